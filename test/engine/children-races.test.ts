/** Child executions when processes freeze at the worst moment or die between two writes. */

import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { retry as tries, workflow } from '../../lib/author/builder/workflow.ts';
import { callbackToken, type Execution } from '../../lib/core/records/state.ts';
import type { Ports, Store } from '../../lib/core/ports.ts';
import { reconcile } from '../../lib/engine/reconcile.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { notifyParent } from '../../lib/engine/children.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { book } from './book.ts';
import { anAgent, anyObject, harness, settle } from './harness.ts';
import { never } from './process.ts';

const agentA = anAgent('agent-a');
const input = anyObject as never;

const inner = workflow('inner', { input, within: '1h' }, (w) => void w.step('x', agentA, {}));
const outer = workflow('outer', { input, within: '3h' }, (w) => {
  w.child('sub', inner as never as Workflow<object>, {});
}) as Workflow;

/** Ports whose `create` of a child waits for the test. */
function starterThatStandsStill(world: Ports): { ports: Ports; letGo: () => void; creates: () => number } {
  let letGo = (): void => undefined;
  let creates = 0;
  const admission = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const create: Store['create'] = async (execution: Execution) => {
    if (execution.parent !== undefined) {
      creates += 1;
      if (creates === 1) await admission;
    }
    return world.store.create(execution);
  };
  const store = new Proxy(world.store, {
    get: (target, key) => (key === 'create' ? create : Reflect.get(target, key)),
  });
  return { ports: { ...world, store }, letGo: () => letGo(), creates: () => creates };
}

it('a starter that read an older state finds its child’s place taken (S10)', async () => {
  const { implementation, done } = book();
  let starter: ReturnType<typeof starterThatStandsStill> | undefined;
  const world = harness(outer, { 'agent-a': implementation }, 1, (ports) => {
    starter = starterThatStandsStill(ports);
    return starter.ports;
  });
  const begun = world.begin({}, 'k');
  await settle();
  expect(starter?.creates()).toBe(1);
  const id = ((await world.store.due(0, Number.MAX_SAFE_INTEGER)).items[0] as { executionId: string })
    .executionId;
  await cancel(world.scheduler, id, {});
  const end = await world.run(id);
  expect(end.execution.status).toBe('canceled');
  starter?.letGo();
  await begun;
  world.clock.advanceTo(world.clock.now() + 3_600_000);
  await settle();
  await world.sweep();
  expect(world.sent).toEqual([]);
  expect(done).toEqual([]);
  expect((await world.state(`${id}.sub.0`)).execution.status).toBe('canceled');
});

it('an answer of the external party brings the wake time forward, in one write with it (S12)', async () => {
  const flow = workflow('flow', { input, within: '30h' }, (w) => {
    const ok = w.approval('ok', { within: '24h' });
    w.step('a', agentA, {}, { after: [ok] });
  }) as Workflow;
  const { implementation } = book();
  const world = harness(flow, { 'agent-a': implementation });
  const { id } = await world.begin();
  // An evaluation that finds nothing to do but wait sets a far wake time.
  world.clock.advanceTo(world.clock.now() + 120_000);
  await world.sweep();
  const far = (await world.state(id)).execution.wakeAt ?? 0;
  expect(far - world.clock.now()).toBeGreaterThan(3_600_000);
  const token = callbackToken((await world.state(id)).execution, 'ok') ?? '';
  const dying: Ports = { ...world, queue: { ...world.queue, send: () => Promise.reject(new Error('gone')) } };
  await closeCallback({ ...world.scheduler, ports: dying }, token, { kind: 'complete', output: {} });
  const { execution } = await world.state(id);
  expect((execution.wakeAt ?? 0) - world.clock.now()).toBeLessThanOrEqual(10_000);
  expect((await world.run(id)).execution.status).toBe('succeeded');
});

it('steps that end at the same time have the end announced once', async () => {
  const flow = workflow('flow', { input, within: '3h' }, (w) => {
    for (let at = 0; at < 10; at += 1) w.step(`s${at}`, agentA, {});
  }) as Workflow;
  const world = harness(flow, { 'agent-a': book().implementation });
  const { id } = await world.begin();
  await world.run(id);
  expect(world.announced).toHaveLength(1);
});

it('a part of a list that ends before its starter said so, and fails, has the others stopped', async () => {
  const flow = workflow('flow', { input, within: '3h' }, (w) => {
    const { items } = w.input as never as { items: never };
    w.map('each', agentA, items, (item) => ({ n: item as never }), { recovery: [tries(0)] });
  }) as Workflow;
  const { implementation, done, undone } = book(({ n }) => n === 55);
  const slow: typeof implementation = {
    ...implementation,
    execute: async (ctx, given) => {
      if ((given as { n: number }).n < 50) await world.clock.sleep(20_000);
      return implementation.execute(ctx, given);
    },
  };
  let died = false;
  const world = harness(flow, { 'agent-a': slow }, 1, (ports) => {
    // The process dies with the last of three.
    const create: Store['create'] = async (execution: Execution) => {
      const result = await ports.store.create(execution);
      if (execution.parent?.index !== 2 || died) return result;
      died = true;
      return never;
    };
    const store = new Proxy(ports.store, {
      get: (target, key) => (key === 'create' ? create : Reflect.get(target, key)),
    });
    return { ...ports, store };
  });
  void world.begin({ items: Array.from({ length: 60 }, (_, n) => n) }, 'k');
  await settle();
  const first = (await world.store.due(0, Number.MAX_SAFE_INTEGER)).items[0];
  const id = (first?.executionId ?? '').split('.')[0] ?? '';
  const end = await world.run(id);
  expect(end.execution.status).toBe('compensated');
  for (const index of [0, 1]) await world.run(`${id}.each.${index}`);
  expect([...undone].sort()).toEqual([...done].sort());
});

it('a child of another epoch of the step is not taken for its own (S6)', async () => {
  const { implementation } = book();
  const execute = async (): Promise<unknown> => {
    await world.clock.sleep(5_000);
    return {};
  };
  const world = harness(outer, { 'agent-a': { ...implementation, execute } });
  const { id } = await world.begin();
  await world.run(id, { until: ({ steps }) => steps['sub']?.status === 'running' });
  const parent = { executionId: id, step: 'sub', index: 0, epoch: 2 };
  const end = { status: 'failed', version: 99, clean: true } as const;
  await notifyParent(world, { parent, end }, reconcile);
  expect((await world.state(id)).steps['sub']?.children?.ended).toEqual({});
  expect((await world.run(id)).execution.status).toBe('succeeded');
});
