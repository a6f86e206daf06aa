/** Steps with child executions (another workflow, a list), on the production roles. */

import type { Write } from '../../lib/core/decisions/decision.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { concat } from '../../lib/author/references.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { book, stepOfKey } from './book.ts';
import { anAgent, anyObject, harness } from './harness.ts';

const agentA = anAgent('agent-a');
const agentB = anAgent('agent-b');
const input = anyObject as never;

const inner = workflow('inner', { input, within: '1h' }, (w) => {
  const x = w.step('x', agentA, { of: (w.input as never as { of: never }).of });
  const y = w.step('y', agentB, {}, { after: [x] });
  return { x: x.output['got'], y: y.output['got'] };
});

const outer = workflow('outer', { input, within: '3h' }, (w) => {
  const first = w.step('first', agentA, {});
  const sub = w.child('sub', inner as never as Workflow<{ of: string }>, { of: 'it' }, { after: [first] });
  w.step('last', agentB, { sub: sub.output as never }, { after: [sub] });
}) as Workflow;

describe('a child', () => {
  it('runs as an execution of its own, whose output is the step’s', async () => {
    const { implementation, done } = book();
    const world = harness(outer, { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin();
    const end = await world.run(id, { supervised: false });
    expect(end.execution.status).toBe('succeeded');
    expect(done).toEqual([`${id}.first`, `${id}.sub.0.x`, `${id}.sub.0.y`, `${id}.last`]);
    expect(end.steps['sub']?.output).toEqual({ x: { of: 'it' }, y: {} });
    const child = await world.state(`${id}.sub.0`);
    expect(child.execution).toMatchObject({ status: 'succeeded', workflow: 'inner' });
    expect(child.execution.wakeAt).toBeUndefined();
    expect(world.announced.map(({ executionId }) => executionId)).toEqual([`${id}.sub.0`, id]);
  });

  it('is counted as started for its own workflow, as its end is', async () => {
    const { implementation } = book();
    const started: unknown[] = [];
    const counting = (ports: MemoryWorld): Ports => ({
      ...ports,
      log: {
        note: (note, origin) => {
          if (note.what === 'started') started.push([note.executionId, origin?.workflow]);
        },
      },
    });
    const world = harness(outer, { 'agent-a': implementation, 'agent-b': implementation }, 1, counting);
    const { id } = await world.begin();
    await world.run(id, { supervised: false });
    expect(started).toEqual([
      [id, 'outer'],
      [`${id}.sub.0`, 'inner'],
    ]);
  });

  it('that fails fails its parent, and both are undone', async () => {
    const { implementation, undone } = book();
    const { implementation: bad } = book(() => true);
    const world = harness(outer, { 'agent-a': implementation, 'agent-b': bad });
    const { id } = await world.begin();
    const end = await world.run(id);
    expect(end.execution.status).toBe('compensated');
    expect(end.steps['sub']?.failure?.code).toBe('child-compensated');
    expect(undone).toEqual([`${id}.sub.0.x`, `${id}.first`]);
  });

  it('that has succeeded is undone when its parent is, in its turn', async () => {
    const { implementation, undone } = book();
    const last = {
      execute: async ({ step }: { step: string }) => {
        if (step === 'last') throw new PermanentError('no');
        return {};
      },
      undo: async ({ idempotencyKey }: { idempotencyKey: string }) => {
        undone.push(stepOfKey(idempotencyKey));
      },
    };
    const world = harness(outer, { 'agent-a': implementation, 'agent-b': last });
    const { id } = await world.begin();
    const end = await world.run(id);
    expect(end.execution.status).toBe('compensated');
    expect(undone).toEqual([`${id}.sub.0.y`, `${id}.sub.0.x`, `${id}.first`]);
    expect((await world.state(`${id}.sub.0`)).execution.status).toBe('canceled');
  });

  it('that has succeeded is not undone before what came after it is (S10)', async () => {
    const { implementation, undone } = book();
    const bad = { ...implementation, execute: () => Promise.reject(new PermanentError('no')) };
    const one = workflow('one', { input, within: '1h' }, (w) => void w.step('x', agentA, {}));
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      const sub = w.child('sub', one as never as Workflow<object>, {});
      const next = w.step('next', agentA, {}, { after: [sub] });
      w.step('last', agentB, {}, { after: [next] });
    }) as Workflow;
    const world = harness(flow, { 'agent-a': implementation, 'agent-b': bad });
    const { id } = await world.begin();
    expect((await world.run(id)).execution.status).toBe('compensated');
    expect(undone).toEqual([`${id}.next`, `${id}.sub.0.x`]);
  });

  it('that has nothing to undo tells its end before its stopping is recorded, and is heard', async () => {
    const plain = anAgent('plain', { undo: 'none' });
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      const sub = w.child(
        'sub',
        workflow('bare', { input, within: '1h' }, (x) => void x.step('x', plain, {})),
        {} as never,
      );
      w.step('last', agentB, {}, { after: [sub] });
    }) as Workflow;
    const world = harness(flow, { plain: book().implementation, 'agent-b': book(() => true).implementation });
    const { id } = await world.begin();
    const end = await world.run(id);
    expect(end.execution.status).toBe('compensated');
    expect(end.steps['sub']?.children?.ended['0']).toMatchObject({ status: 'canceled', clean: true });
  });

  it('is canceled with its parent, and cannot come to life any more when it never began', async () => {
    const { implementation, undone } = book();
    const slow = { ...implementation, execute: () => world.clock.sleep(5_000) };
    const world = harness(outer, { 'agent-a': implementation, 'agent-b': slow });
    const { id } = await world.begin();
    await world.run(id, { until: ({ steps }) => steps['sub']?.status === 'running' });
    await cancel(world.scheduler, id, {});
    const end = await world.run(id);
    expect(end.execution.status).toBe('canceled');
    expect(end.steps['sub']?.status).toBe('compensated');
    expect(undone.at(-1)).toBe(`${id}.first`);
    const early = await world.begin();
    await cancel(world.scheduler, early.id, {});
    await world.run(early.id);
    expect(await world.store.read(`${early.id}.sub.0`)).toBeUndefined();
  });
});

/** Kills a process at its first write of this kind. */
const losingWrites =
  (isLost: (write: Write) => boolean) =>
  (world: MemoryWorld): Ports => {
    let lost = false;
    const write = async (given: Write): Promise<'written' | 'conflict'> => {
      if (lost || !isLost(given)) return world.store.write(given);
      lost = true;
      throw new Error('the process dies');
    };
    return { ...world, store: Object.assign(Object.create(world.store) as typeof world.store, { write }) };
  };

const lists = (limits: { concurrency?: number; mayFail?: number | `${number}%` }): Workflow =>
  workflow('lists', { input, within: '3h' }, (w) => {
    const { items } = w.input as never as { items: never };
    const all = w.map(
      'each',
      agentA,
      items,
      (item, index) => ({ n: item as never, key: concat('k', index) }),
      { recovery: [retry(0)], ...limits },
    );
    w.step('after', agentB, { failed: all.output.failed }, { after: [all] });
    return { all: all.output };
  }) as Workflow;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('a map', () => {
  it('performs every item once and gathers their outputs in order', async () => {
    const { implementation, done } = book();
    const world = harness(lists({}), { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin({ items: upTo(60) });
    const end = await world.run(id, { supervised: false });
    expect(end.execution.status).toBe('succeeded');
    const { total, failed, items } = (end.steps['each'] as Step).output as unknown as Record<string, never>;
    expect([total, failed]).toEqual([60, 0]);
    expect(items).toEqual(upTo(60).map((n) => ({ got: { n, key: `k${n}` } })));
    expect(new Set(done).size).toBe(61);
    expect(done).toHaveLength(61);
  });

  it('over an empty list ends at once', async () => {
    const { implementation } = book();
    const world = harness(lists({}), { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin({ items: [] });
    const end = await world.run(id, { supervised: false });
    expect(end.steps['each']?.output).toEqual({ total: 0, failed: 0, items: [] });
  });

  it.each([
    [3, 60],
    [1, 7],
    [60, 120],
  ])('never has more than %d items under way of %d', async (concurrency, count) => {
    let [now, most] = [0, 0];
    const world = harness(lists({ concurrency }), {
      'agent-a': {
        execute: async () => {
          now += 1;
          most = Math.max(most, now);
          await world.clock.sleep(1_000);
          now -= 1;
          return {};
        },
      },
      'agent-b': { execute: async () => ({}) },
    });
    const { id } = await world.begin({ items: upTo(count) });
    const end = await world.run(id);
    expect(end.execution.status).toBe('succeeded');
    expect(most).toBeLessThanOrEqual(concurrency);
    expect(most).toBeGreaterThan(concurrency / 2.5);
  });

  it('whose item fails is undone, all items', async () => {
    const { implementation, done, undone } = book(({ n }) => n === 40);
    const world = harness(lists({}), { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin({ items: upTo(60) });
    const end = await world.run(id);
    expect(end.execution.status).toBe('compensated');
    expect([...undone].sort()).toEqual([...done].sort());
  });

  it('whose starter dies before it says what it started leaves none of that behind', async () => {
    const { implementation, done, undone } = book(({ n }) => n === 3);
    const world = harness(
      lists({}),
      { 'agent-a': implementation, 'agent-b': implementation },
      1,
      losingWrites(({ step }) => step?.status === 'running' && step.children !== undefined),
    );
    const { id } = await world.begin({ items: upTo(60) });
    // The first part is the first to end, and fails; its parent does not know of the others.
    const end = await world.run(id, { deliverable: ({ message }) => message.execution === `${id}.each.0` });
    expect(end.execution.status).toBe('compensated');
    const parts = await Promise.all([0, 1, 2].map((index) => world.state(`${id}.each.${index}`)));
    expect(parts.map(({ execution }) => execution.status)).toEqual(['compensated', 'canceled', 'canceled']);
    await world.run(`${id}.each.1`);
    expect([...undone].sort()).toEqual([...done].sort());
  });

  it.each([
    [2, 'succeeded'],
    ['4%', 'succeeded'],
    [1, 'compensated'],
    ['3%', 'compensated'],
  ] as const)('that tolerates %s of 60 with two failures ends %s', async (tolerate, status) => {
    const { implementation } = book(({ n }) => n === 3 || n === 40);
    const world = harness(lists({ mayFail: tolerate }), {
      'agent-a': implementation,
      'agent-b': implementation,
    });
    const { id } = await world.begin({ items: upTo(60) });
    const end = await world.run(id);
    expect(end.execution.status).toBe(status);
    if (status !== 'succeeded') return;
    const { failed, items } = (end.steps['each'] as Step).output as unknown as {
      failed: number;
      items: unknown[];
    };
    expect(failed).toBe(2);
    expect([items[3], items[40]]).toEqual([null, null]);
  });

  it('over a value that is not a list, or too long a list, fails with the reason', async () => {
    const world = harness(lists({}), {});
    for (const [items, code] of [
      ['text', 'not-a-list'],
      [upTo(10_001), 'list-too-long'],
      [['x'.repeat(220_000)], 'item-too-large'],
    ] as const) {
      const { id } = await world.begin({ items: items as never });
      const end = await world.run(id);
      expect(end.execution.status).toBe('failed');
      expect(end.steps['each']?.failure?.code).toBe(code);
    }
  });
});
