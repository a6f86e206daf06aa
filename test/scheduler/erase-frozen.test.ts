/** A process that was frozen while its execution ended and was erased starts no work of it again. */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports, Store } from '../../lib/core/ports.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import { erase } from '../../lib/scheduler/erase.ts';
import { reconcile } from '../../lib/engine/reconcile.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, drain, type Harness, harness, settle } from '../engine/harness.ts';

const worker = anAgent('worker', { undo: 'none' });
const single = workflow('single', { input: anyObject, within: '1h' }, (w) => {
  w.step('one', worker, {});
  return {};
}) as Workflow;
const parent = workflow('parent', { input: anyObject, within: '1h' }, (w) => {
  w.child('child', single, {});
  return {};
}) as Workflow;

function world(of: Workflow) {
  const acted: string[] = [];
  const execute = async ({ idempotencyKey }: { readonly idempotencyKey: string }) => {
    acted.push(idempotencyKey);
    return {};
  };
  const around = (memory: MemoryWorld): Ports => ({ ...memory, erasure: memory.store.inventory() });
  const h = harness(of, { worker: { execute } as never }, 1, around, { processMs: 15 * 60_000 });
  const found = async () => (await h.store.inventory(10_000).page({ index: 0, of: 1 })).items;
  return { ...h, acted, found };
}
type World = ReturnType<typeof world>;

/**
 * The ports of a process that freezes at its first call of this kind, before the call or before its answer.
 */
function frozen(h: World, call: 'read' | 'write' | 'create', when: 'before' | 'after') {
  let thaw = (): void => undefined;
  const thawed = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  const { store } = h.scheduler.ports;
  let isFirst = true;
  const real = store[call].bind(store) as (...given: unknown[]) => Promise<unknown>;
  const frozenCall = async (...given: unknown[]): Promise<unknown> => {
    const isFrozen = isFirst;
    isFirst = false;
    if (isFrozen && when === 'before') await thawed;
    const answer = await real(...given);
    if (isFrozen && when === 'after') await thawed;
    return answer;
  };
  const methods = new Proxy(store, {
    get: (target, name) => (name === call ? frozenCall : Reflect.get(target, name)),
  }) as Store;
  return { thaw, ports: { ...h.scheduler.ports, store: methods } satisfies Ports };
}

const later = (h: Harness): void => h.clock.advanceTo(h.clock.now() + 5 * 60_000);

async function doneAndErased(h: World, id: string): Promise<void> {
  await h.run(id);
  later(h);
  await erase(h.scheduler, id);
  expect(await h.found()).toEqual([]);
}

describe('a claim', () => {
  async function claimed(call: 'read' | 'write', again?: (h: World) => Promise<void>): Promise<World> {
    const h = world(single);
    const { id } = await h.begin({}, 'k');
    const late = frozen(h, call, call === 'read' ? 'after' : 'before');
    const delivery = h.deliver(h.sent[0] as Send, late.ports);
    await settle();
    await doneAndErased(h, id);
    await again?.(h);
    late.thaw();
    await delivery;
    await drain(h);
    return h;
  }

  it('by what was read before', async () => {
    const h = await claimed('read');
    expect(h.acted).toHaveLength(1);
    expect(await h.found()).toEqual([]);
  });

  it('in its write: the record is of nobody, and goes with the next audit', async () => {
    const h = await claimed('write');
    expect(h.acted).toHaveLength(1);
    expect((await h.found()).map(({ kind }) => kind)).toEqual(['step']);
  });

  it('where the key has started another execution since', async () => {
    const h = await claimed('write', async (one) => {
      await one.begin({}, 'k');
      one.sent.splice(0);
    });
    // The message fits that execution as well, which has not begun.
    expect(h.acted).toHaveLength(2);
    expect(new Set(h.acted).size).toBe(2);
  });
});

describe('the start of a child', () => {
  /** Records what a process does next that read the execution when it was new. */
  async function begun() {
    const h = world(parent);
    const execution = await h.begin({}, 'k');
    const known = { state: { execution, steps: {} }, fresh: true, readAt: h.clock.now() };
    const goOn = (ports: Ports) =>
      reconcile(ports, parent.plan, execution.id, { by: 'agent', affected: 'all', known });
    return { h, id: execution.id, goOn };
  }

  it('by what was read before', async () => {
    const { h, id, goOn } = await begun();
    await doneAndErased(h, id);
    await goOn(h.scheduler.ports);
    await drain(h);
    expect(h.acted).toHaveLength(1);
    expect(await h.found()).toEqual([]);
  });

  it('in its create: it is canceled before anything of it begins', async () => {
    const { h, id, goOn } = await begun();
    const late = frozen(h, 'create', 'before');
    const goingOn = goOn(late.ports);
    await settle();
    await doneAndErased(h, id);
    late.thaw();
    await goingOn;
    await drain(h);
    expect(h.acted).toHaveLength(1);
    const { execution } = await h.run(`${id}.child.0`);
    expect(execution.status).toBe('canceled');
    expect(h.acted).toHaveLength(1);
  });
});
