/** Edge cases of child executions: two at once, values that are too large, hundreds at a time. */

import * as z from 'zod/mini';
import { decide } from '../../lib/core/decide.ts';
import type { MapStep } from '../../lib/core/plan/plan.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { mayHaveChildren } from '../../lib/core/step/turn.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { book } from './book.ts';
import { harness } from './harness.ts';
import { agentA, agentB, DAY, inner, input } from './inner.ts';
import { withStore } from './process.ts';

/** Ports whose writes are lost while `loses` is true, because their processes die. */
const losing =
  (loses: (write: Write) => boolean) =>
  (world: MemoryWorld): Ports =>
    withStore(world, (store) => ({
      write: (write) =>
        loses(write) ? Promise.reject(new Error('the process is dead')) : store.write(write),
    }));

describe('two children in a row', () => {
  it('are undone in reverse, also when nobody has said yet that the second was started (S10)', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      const one = w.child('one', inner, {} as never);
      w.child('two', inner, {} as never, { after: [one] });
    }) as Workflow;
    const { implementation, undone } = book();
    const world = harness(
      flow,
      { 'agent-a': implementation },
      1,
      losing(({ step }) => step?.name === 'two' && step.status === 'running'),
    );
    const { id } = await world.begin();
    const second = `${id}.two.0`;
    await world.run(id, { until: ({ steps }) => steps['one']?.status === 'done' });
    await world.run(second, { until: ({ steps }) => steps['x']?.status === 'done' });
    await cancel(world.scheduler, id, {});
    await world.run(id);
    expect(undone).toEqual([`${id}.two.0.x`, `${id}.one.0.x`]);
  });
});
describe("a child that is not to be undone (undo: 'none')", () => {
  it('and has succeeded stays so, also when its parent is stopped before it hears of it', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      w.child('sub', inner, {} as never, { undo: 'none' });
      w.step('other', agentB, {});
    }) as Workflow;
    const { implementation, undone } = book();
    let deaf = true;
    const world = harness(
      flow,
      {
        'agent-a': implementation,
        'agent-b': { ...implementation, execute: () => world.clock.sleep(3_000) },
      },
      1,
      losing(
        ({ executionId, step }) =>
          deaf && !executionId.includes('.') && step?.children?.ended[0] !== undefined,
      ),
    );
    const { id } = await world.begin();
    await world.run(`${id}.sub.0`, { until: ({ execution }) => execution.status === 'succeeded' });
    deaf = false;
    await cancel(world.scheduler, id, {});
    const end = await world.run(id);
    expect(end.execution.status).toBe('canceled');
    const child = await world.run(`${id}.sub.0`);
    expect(child.execution.status).toBe('succeeded');
    expect(undone).toEqual([`${id}.other`]);
  });
});
const lists = (size: number): Workflow =>
  workflow('lists', { input, within: '3h' }, (w) => {
    const { items, text } = w.input as never as { items: never; text: never };
    const all = w.map('each', agentA, items, (n) => ({ n: n as never, text, size }), {
      recovery: [retry(0)],
    });
    return { all: all.output };
  }) as Workflow;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
describe('an input that the other workflow does not accept', () => {
  const strict = workflow(
    'strict',
    { input: z.object({ must: z.string() }), within: '1h' },
    (w) => void w.step('x', agentA, {}),
  );
  const flow = workflow('flow', { input, within: '3h' }, (w) => {
    const { must } = w.input as never as { must: never };
    w.child('sub', strict, { must });
  }) as Workflow;

  it('fails the step with the reason, and nobody can start its execution any more', async () => {
    const { implementation, done } = book();
    const world = harness(flow, { 'agent-a': implementation });
    const { id } = await world.begin({ must: 5 });
    const end = await world.run(id);
    expect(end.execution.status).toBe('failed');
    expect(end.steps['sub']).toMatchObject({ status: 'failed', failure: { code: 'input-refused' } });
    expect(end.steps['sub']?.failure?.message).toContain("workflow 'strict' does not accept");
    const child = await world.state(`${id}.sub.0`);
    expect(child.execution).toMatchObject({ status: 'canceled', version: 1 });
    expect(done).toEqual([]);
  });

  it('is left alone where somebody has started it', async () => {
    const { implementation, done } = book();
    // An agent that does not have the schema comes first.
    const world = harness(flow, { 'agent-a': implementation }, 1, (inMemory) =>
      withStore(inMemory, (store) => ({
        create: async (execution) => {
          const { endedAt: _, ...open } = execution;
          const wakeAt = inMemory.clock.now();
          if (execution.status === 'canceled')
            await store.create({
              ...open,
              writeId: 'w',
              status: 'running',
              wakeAt,
              deadlineAt: wakeAt + DAY,
            });
          return store.create(execution);
        },
      })),
    );
    const { id } = await world.begin({ must: 5 });
    expect((await world.run(id)).execution.status).toBe('succeeded');
    expect(done).toEqual([`${id}.sub.0.x`]);
  });
});

describe('what is too large', () => {
  it('among one part’s outputs leaves out all: no item’s output is taken for another’s', async () => {
    const world = harness(lists(1), {
      'agent-a': {
        execute: async (_, given) => {
          const { n } = given as { n: number };
          return { n, text: n < 25 ? 'x'.repeat(5_000) : '' };
        },
      },
    });
    const { id } = await world.begin({ items: upTo(60) });
    const end = await world.run(id);
    expect((end.steps['each'] as Step).output).toEqual({ total: 60, failed: 0 });
  });

  it('as a child’s output fails the step if others read it, and is left out if no step does', async () => {
    for (const reads of [true, false]) {
      const flow = workflow('flow', { input, within: '3h' }, (w) => {
        const sub = w.child('sub', inner, {} as never);
        w.step('last', agentB, reads ? { x: sub.output as never } : {}, { after: [sub] });
      }) as Workflow;
      const world = harness(flow, {
        'agent-a': { execute: async () => ({ got: 'x'.repeat(120_000) }), undo: async () => undefined },
        'agent-b': { execute: async () => ({}) },
      });
      const { id } = await world.begin();
      const end = await world.run(id);
      expect(end.execution.status).toBe(reads ? 'compensated' : 'succeeded');
      expect(end.steps['sub']?.failure?.code).toBe(reads ? 'output-too-large' : undefined);
      expect(end.steps['sub']?.output).toBe(reads ? undefined : null);
    }
  });

  it('for a child’s record fails the step with the reason', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      const a = w.step('a', agentA, {});
      const b = w.step('b', agentA, {});
      w.child('sub', inner, { a: a.output, b: b.output } as never);
    }) as Workflow;
    const world = harness(flow, {
      'agent-a': { execute: async () => ({ text: 'x'.repeat(200_000) }), undo: async () => undefined },
    });
    const { id } = await world.begin();
    const end = await world.run(id);
    expect(end.execution.status).toBe('compensated');
    expect(end.steps['sub']?.failure?.code).toBe('input-too-large');
  });

  it('as a list of large items is refused: their executions would not fit into the step’s record', async () => {
    const world = harness(lists(1), {});
    const { id } = await world.begin({ items: upTo(1_100), text: 'x'.repeat(101_000) });
    const end = await world.run(id);
    expect(end.execution.status).toBe('failed');
    expect(end.steps['each']?.failure?.code).toBe('list-too-large');
  });
});
describe('many executions', () => {
  it('are stopped with a bounded number of calls, however many there are', async () => {
    const counts: number[] = [];
    for (const parts of [10, 100]) {
      let calls = 0;
      const counted =
        <Given extends unknown[], Answer>(call: (...given: Given) => Answer) =>
        (...given: Given): Answer => {
          calls += 1;
          return call(...given);
        };
      const world = harness(lists(1), {}, 1, (inMemory) =>
        withStore(inMemory, ({ read, write }) => ({ read: counted(read), write: counted(write) })),
      );
      const { id } = await world.begin({ items: upTo(parts * 25) });
      calls = 0;
      // The cancel is not awaited: if two processes write at once, it waits for time, which moves only below.
      void cancel(world.scheduler, id, {});
      const end = await world.run(id, { deliverable: () => false });
      expect(end.execution.status).toBe('canceled');
      counts.push(calls / parts);
    }
    expect((counts[1] ?? 0) / (counts[0] ?? 1)).toBeLessThan(1.1);
  });

  it('are stopped fifty at a time, and a process that dies on the way leaves the rest to the next evaluation (S10)', async () => {
    const parts = 120;
    const stops = new Map<string, number>();
    let dies = true;
    const world = harness(lists(1), {}, 1, (inMemory) =>
      withStore(inMemory, (store) => ({
        write: async (write) => {
          const { execution, executionId } = write;
          const isStop = execution?.status === 'compensating' && execution.cause?.kind === 'parent';
          if (isStop && dies && stops.size === 70) throw new Error('the process is dead');
          if (isStop) stops.set(executionId, (stops.get(executionId) ?? 0) + 1);
          return store.write(write);
        },
      })),
    );
    const { id } = await world.begin({ items: upTo(parts * 25) });
    const nobody = { deliverable: () => false };
    await world.run(id, { ...nobody, until: ({ steps }) => steps['each']?.children?.started === parts });
    void cancel(world.scheduler, id, {});
    await world.run(id, { ...nobody, until: () => stops.size === 70 });
    dies = false;
    const { execution, steps } = await world.run(id, nobody);
    expect(execution.status).toBe('canceled');
    expect(steps['each']?.children).not.toHaveProperty('stopped');
    expect(Object.keys(steps['each']?.children?.ended ?? {})).toHaveLength(parts);
    // Executions that were stopped before its death, recorded or not, are not stopped again.
    expect(new Set(stops.values())).toEqual(new Set([1]));
    expect(stops.size).toBe(parts);
  });

  it('are not over before the last fifty are stopped, and nothing before them is undone until then (S10)', async () => {
    const flow = lists(1);
    const world = harness(flow, {});
    const { id } = await world.begin({ items: upTo(120 * 25) });
    const evaluate = (state: Snapshot) =>
      decide(flow.plan, state, {
        type: 'evaluate',
        by: 'supervisor',
        affected: 'all',
        fresh: true,
        readAt: 1,
        now: 1,
        random: 0,
        writeId: 'w',
      });
    const started = await world.state(id);
    const cause = { kind: 'cancel', at: 1, failure: { code: 'canceled', message: 'x' } } as const;
    let state: Snapshot = { ...started, execution: { ...started.execution, status: 'compensating', cause } };
    const sizes: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { next } = evaluate(state);
      if (next.kind !== 'stop-children') throw new Error(next.kind);
      sizes.push(next.starts.length);
      const { step, planned, below } = next;
      const { write } = decide(flow.plan, state, {
        type: 'stopped',
        step,
        planned,
        goal: next.goal,
        below,
        ended: {},
        now: 1,
        random: 0,
        writeId: 'w',
      });
      state = { ...state, steps: { ...state.steps, each: write?.step as Step } };
      expect(mayHaveChildren(flow.plan.steps[0] as MapStep, state)).toBe(round < 2);
    }
    expect(sizes).toEqual([50, 50, 20]);
    expect(evaluate(state).next.kind).toBe('idle');
  });
});
