/** Erasing an ended execution with all its child executions, even if processes die meanwhile. */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import type { Erasure, Ports } from '../../lib/core/ports.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import type { Found } from '../../lib/core/supervision/audit.ts';
import { erase } from '../../lib/scheduler/erase.ts';
import { cancel, retry as retryExecution } from '../../lib/scheduler/commands.ts';
import { memoryValues } from '../../lib/memory/world.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';

const LARGE = 'x'.repeat(40_000);
const worker = anAgent('worker', { undo: 'none' });

const inner = workflow('inner', { input: anyObject, within: '1h' }, (w) => {
  w.step('one', worker, { text: LARGE });
  return {};
}) as Workflow;

const outer = workflow('outer', { input: anyObject, within: '2h' }, (w) => {
  const { items: list } = w.input as never as { items: never };
  const many = w.map('many', worker, list, (n) => ({ n }) as never);
  const child = w.child('child', inner, {}, { after: [many], recovery: [retry(3)] } as never);
  w.step('last', worker, { text: LARGE }, { after: [child] });
  return {};
}) as Workflow;

/** A world in which an erasing process dies before the removal `death.at`; absent: never. */
function world(fails: (step: string) => boolean = () => false) {
  const values = memoryValues();
  const death: { at?: number; removals: number } = { removals: 0 };
  const dying =
    <Given, Result>(call: (given: Given) => Promise<Result>) =>
    async (given: Given) => {
      if (death.removals === death.at) throw new Error('killed');
      death.removals += 1;
      return call(given);
    };
  const around = (memory: Harness | Parameters<NonNullable<Parameters<typeof harness>[3]>>[0]): Ports => {
    const { recordsOf, remove } = memory.store.inventory();
    const erasure: Erasure = {
      recordsOf,
      remove: dying(remove),
      values: {
        list: async (prefix) => ({
          items: [...values.objects.keys()]
            .filter((key) => key.startsWith(prefix))
            .map((key) => ({ key, storedAt: 0, bytes: 1 })),
        }),
        remove: dying(async (keys: readonly string[]) => {
          for (const key of keys) values.objects.delete(key);
        }),
      },
    };
    return { ...memory, largeValues: values, erasure };
  };
  const h = harness(
    outer,
    {
      worker: {
        execute: async ({ step }: { readonly step: string }) => {
          if (fails(step)) throw new TransientError('no');
          return step.startsWith('many[') ? {} : { text: LARGE };
        },
      } as never,
    },
    1,
    around,
  );
  const found = async (): Promise<readonly Found[]> =>
    (await h.store.inventory(10_000).page({ index: 0, of: 1 })).items;
  const run = async (id: string): Promise<Snapshot> => {
    const state = await h.run(id);
    // A minute later, no write that was decided before is still under way.
    h.clock.advanceTo(h.clock.now() + 60_000);
    return state;
  };
  return { ...h, values, found, death, run, justRun: h.run };
}

const items = Array.from({ length: 60 }, (_, n) => n);

it('with its list, its child and their values; then its key starts another one', async () => {
  const h = world();
  const first = await h.begin({ items }, 'order-1');
  await h.run(first.id);
  expect(h.values.objects.size).toBeGreaterThan(1);
  expect((await h.found()).length).toBeGreaterThan(60);
  expect(await erase(h.scheduler, first.id)).toEqual({ executionId: first.id, status: 'erased' });
  expect(await h.found()).toEqual([]);
  expect([...h.values.objects.keys()]).toEqual([]);
  await expect(erase(h.scheduler, first.id)).rejects.toMatchObject({ code: 'unknown-execution' });
  const again = await h.begin({ items }, 'order-1');
  expect(again.life).not.toBe(first.life);
  expect((await h.run(again.id)).execution.status).toBe('succeeded');
});

/** A world with an execution whose child was tried four times, and then again in another epoch. */
async function retriedWorld() {
  let isBroken = true;
  const h = world((step) => isBroken && step === 'one');
  const { id } = await h.begin({ items: [1] });
  expect((await h.run(id)).execution.status).not.toBe('succeeded');
  isBroken = false;
  await retryExecution(h.scheduler, id, {}).catch(() => undefined);
  expect((await h.run(id)).execution.status).toBe('succeeded');
  return { h, id };
}

it('with executions of earlier epochs and tries', async () => {
  const { h, id } = await retriedWorld();
  const ids = (await h.found()).map((one) => (one.kind === 'execution' ? one.execution.id : ''));
  expect(ids).toEqual(expect.arrayContaining([`${id}.child.0`, `${id}.child.0-e1t2`]));
  await erase(h.scheduler, id);
  expect(await h.found()).toEqual([]);
  expect(h.values.objects.size).toBe(0);
});

it.each(['child.0-e1t2', 'many.0'])(
  'by the same call again, also what comes after %s, erased by itself meanwhile',
  async (one) => {
    const h = world((step) => step === 'one');
    const { id } = await h.begin({ items });
    await h.run(id);
    const ids = (await h.found()).map((found) => (found.kind === 'execution' ? found.execution.id : ''));
    expect(ids).toEqual(expect.arrayContaining([`${id}.${one}`, `${id}.child.0-e1t3`]));
    h.death.at = 1;
    await expect(erase(h.scheduler, id)).rejects.toThrow('killed');
    delete h.death.at;
    await erase(h.scheduler, `${id}.${one}`);
    await erase(h.scheduler, id);
    expect(await h.found()).toEqual([]);
  },
);

const ran = async () => {
  const h = world();
  const { id } = await h.begin({ items: [1, 2] });
  await h.run(id);
  return { h, id };
};

it.each([
  ['its only epoch', ran],
  ['an earlier epoch with more tries', retriedWorld],
])('by the same call again, where a process dies before any of its removals: %s', async (_, ended) => {
  const counted = await ended();
  await erase(counted.h.scheduler, counted.id);
  const { removals } = counted.h.death;
  expect(removals).toBeGreaterThan(10);
  for (let at = 0; at < removals; at += 1) {
    const { h, id } = await ended();
    h.death.at = at;
    await expect(erase(h.scheduler, id)).rejects.toThrow('killed');
    // Nobody can continue a half-erased execution.
    if (at > 0)
      await expect(retryExecution(h.scheduler, id, {})).rejects.toMatchObject({ code: 'unknown-execution' });
    delete h.death.at;
    await erase(h.scheduler, id).catch(({ code }) => expect(code).toBe('unknown-execution'));
    // The audit removes an input that no record names: it may belong to a start under way.
    expect((await h.found()).filter(({ kind }) => kind !== 'input')).toEqual([]);
    expect(h.values.objects.size).toBe(0);
  }
});

describe('is refused', () => {
  const refused = async (h: Harness, id: string): Promise<string> => {
    const error = await erase(h.scheduler, id).then(
      () => undefined,
      (one: Error) => one,
    );
    expect(error).toMatchObject({ code: 'not-erasable' });
    return (error as Error).message;
  };

  it('while it is open, and of an execution that belongs to another one', async () => {
    const h = world();
    const { id } = await h.begin({ items: [1] });
    expect(await refused(h, id)).toContain('is running: wait for its end, or cancel it');
    await h.run(id);
    expect(await refused(h, `${id}.child.0`)).toBe(`it belongs to ${id}: erase that one`);
    expect(h.values.objects.size).toBeGreaterThan(0);
  });

  it('while an attempt of it may still be acting, or its end is not announced', async () => {
    const h = world();
    const { id } = await h.begin({ items: [1] });
    const { execution } = await h.run(id);
    const change = async (changes: Partial<Execution>): Promise<void> => {
      const { version } = (await h.state(id)).execution;
      const next = {
        ...(await h.state(id)).execution,
        ...changes,
        version: version + 1,
        writeId: `w-${version}`,
      };
      await h.store.write({ executionId: id, execution: next });
    };
    await change({ wakeAt: 5 });
    expect(await refused(h, id)).toContain('its end is not announced yet');
    const { wakeAt: _, ...quiet } = (await h.state(id)).execution;
    await h.store.write({
      executionId: id,
      execution: { ...quiet, version: quiet.version + 1, writeId: 'w-q' },
    });
    const last = (await h.state(id)).steps['last'] as Step;
    const processDeadlineAt = h.clock.now() + 60_000;
    await h.store.write({
      executionId: id,
      step: { ...last, mayHaveActed: true, processDeadlineAt, version: last.version + 1, writeId: 'w-s' },
    });
    expect(await refused(h, id)).toContain('may still be acting: try again after');
    expect((await h.state(id)).execution.life).toBe(execution.life);
  });

  it('while a process may begin what it has just been kept from: nothing else would keep it from that', async () => {
    const h = world();
    const { id } = await h.begin({ items: [1, 2] });
    // Every sent message is under way: the claims of its items are read, and not written yet.
    await cancel(h.scheduler, id, {});
    const { execution } = await h.justRun(id);
    expect(execution.status).toBe('canceled');
    expect(await refused(h, id)).toContain('has just been stopped');
    h.clock.advanceTo(h.clock.now() + 60_000);
    expect((await erase(h.scheduler, id)).status).toBe('erased');
    expect(await h.found()).toEqual([]);
  });

  it('while a claim of a step that is done may be written: it would find no record, and act anew', async () => {
    const h = world();
    const { id } = await h.begin({ items: [] });
    h.clock.advanceTo(h.clock.now() + 60_000);
    await h.justRun(id);
    expect(await refused(h, id)).toContain('a step of');
    h.clock.advanceTo(h.clock.now() + 60_000);
    expect((await erase(h.scheduler, id)).status).toBe('erased');
  });

  it('while the start of a later try may be written: its process may not have seen that it was created', async () => {
    let failures = 4;
    const h = world((step) => step === 'one' && (failures -= 1) >= 0);
    const { id } = await h.begin({ items: [] });
    await h.run(id);
    const child = (await h.state(id)).steps['child'] as Step;
    expect(child.children?.try).toBe(2);
    // The process that created it died, and its end was the first thing to be recorded.
    const changedAt = h.clock.now();
    await h.store.write({
      executionId: id,
      step: { ...child, changedAt, version: child.version + 1, writeId: 'w-late' },
    });
    expect(await refused(h, id)).toContain('a step of');
    h.clock.advanceTo(h.clock.now() + 60_000);
    expect((await erase(h.scheduler, id)).status).toBe('erased');
  });
});
