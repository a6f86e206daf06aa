/** An explanation of the steps that no agent performs: until when they wait, for whom, and how far their executions are. */

import * as z from 'zod/mini';
import { PermanentError } from '../../../lib/core/records/errors.ts';
import { callbackToken } from '../../../lib/core/records/state.ts';
import { type Explanation, explain } from '../../../lib/core/explain/why.ts';
import { planAt } from '../../../lib/core/plan/child-plans.ts';
import { retry, type Workflow, workflow, type WorkflowBuilder } from '../../../lib/core/plan/workflow.ts';
import { settleCallback } from '../../../lib/scheduler/callbacks.ts';
import { cancel } from '../../../lib/scheduler/commands.ts';
import { book } from '../../engine/book.ts';
import { anAgent, anyObject, type Harness, harness } from '../../engine/harness.ts';

const worker = anAgent('worker');
const input = anyObject as never;
type Build = (w: WorkflowBuilder<Record<string, never>>) => void;
const flow = (build: Build): Workflow =>
  workflow('flow', { input, within: '3h' }, build as never) as Workflow;
const HOUR = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();

interface Told {
  readonly told: Explanation;
  readonly of: (name: string) => Explanation['steps'][number] | undefined;
  readonly past: (name: string) => string[];
}

async function why(world: Harness, of: Workflow, id: string): Promise<Told> {
  const state = await world.state(id);
  const plan = planAt(of.plan, state.execution.plan) ?? of.plan;
  const told = explain(plan, state, world.clock.now());
  return {
    told,
    of: (name) => told.steps.find((step) => step.name === name),
    past: (name) => told.past.filter(({ step }) => step === name).map(({ what }) => what),
  };
}

const tokenOf = async (world: Harness, id: string, step: string): Promise<string> =>
  callbackToken((await world.state(id)).execution, step) ?? '';

describe('why, of a wait', () => {
  const pauses = flow((w) => {
    const pause = w.wait('pause', { for: '1h' });
    w.step('b', worker, {}, { after: [pause] });
  });

  it('until when, and that its time came', async () => {
    const world = harness(pauses, { worker: book().implementation });
    const { id, startedAt } = await world.begin();
    const { told, of } = await why(world, pauses, id);
    expect(of('pause')).toMatchObject({
      status: 'ready',
      because: `it waits until ${iso(startedAt + HOUR)}`,
      next: { at: startedAt + HOUR, who: 'supervisor' },
    });
    expect(told.next).toEqual(of('pause')?.next);
    expect(of('b')?.because).toBe("it waits for 'pause'");
    await world.run(id, { maxMs: 2 * HOUR });
    const end = await why(world, pauses, id);
    expect(end.of('pause')).toMatchObject({ because: 'its time has come', next: { who: 'nobody' } });
    expect(end.past('pause')).toEqual(['its time came']);
  });

  it('whose time has come: that it is over now', async () => {
    const world = harness(pauses, {});
    const { id, startedAt } = await world.begin();
    const told = explain(pauses.plan, await world.state(id), startedAt + HOUR);
    expect(told.next).toMatchObject({ who: 'supervisor', step: 'pause', at: startedAt + HOUR });
    expect(told.next.what).toContain('its time has come');
  });

  it('until what is no time: that it cannot be told', async () => {
    const until = flow((w) => void w.wait('pause', { until: w.input['at'] as never }));
    const world = harness(until, {});
    const { id } = await world.begin({ at: 'soon' });
    await world.run(id);
    const { of, past } = await why(world, until, id);
    expect(of('pause')?.because).toMatch(/^its time cannot be told \(bad-time: /);
    expect(past('pause')).toEqual([expect.stringMatching(/^it failed \(bad-time: /)]);
  });
});

describe('why, of a callback', () => {
  const asks = (beatEvery?: string): Workflow =>
    flow((w) => {
      const first = w.step('first', worker, {});
      w.callback('paid', {
        output: z.any(),
        within: '1h',
        after: [first],
        ...(beatEvery === undefined ? {} : { beatEvery }),
      });
    });

  it('who has not answered, until when, and when it last beat', async () => {
    const waits = asks('10m');
    const world = harness(waits, { worker: book().implementation });
    const { id } = await world.begin();
    await world.run(id, { until: ({ steps }) => steps['first']?.status === 'done' });
    const since = (await world.state(id)).steps['first']?.changedAt ?? 0;
    const silent = await why(world, waits, id);
    expect(silent.of('paid')).toMatchObject({
      because: 'the outside has not answered yet, nor beaten',
      next: {
        what: 'the outside answers or beats; in silence it fails',
        at: since + 600_000,
        who: 'outside',
      },
    });
    world.clock.advanceTo(since + 60_000);
    await settleCallback(world.scheduler, await tokenOf(world, id, 'paid'), { kind: 'beat' });
    const beaten = await why(world, waits, id);
    expect(beaten.of('paid')).toMatchObject({
      status: 'waiting',
      because: `the outside has not answered yet; its last beat, 1, was at ${iso(since + 60_000)}`,
      next: { at: since + 660_000 },
    });
    expect(beaten.past('paid')).toEqual(['the outside beat']);
    expect(beaten.told.next).toEqual(beaten.of('paid')?.next);
  });

  it('that was answered, also before its turn', async () => {
    const waits = asks();
    const world = harness(waits, { worker: book().implementation });
    const { id } = await world.begin();
    const answer = { kind: 'complete', output: {} } as const;
    await settleCallback(world.scheduler, await tokenOf(world, id, 'paid'), answer);
    const early = await why(world, waits, id);
    expect(early.of('paid')).toMatchObject({
      status: 'answered',
      because: 'the outside answered before its turn; the answer is kept',
    });
    expect(early.past('paid')).toEqual(['the outside answered before its turn']);
    await world.run(id);
    const end = await why(world, waits, id);
    expect([end.of('paid')?.because, end.past('paid')]).toEqual([
      'the outside answered',
      ['the outside answered'],
    ]);
  });

  it('that nobody answered: that it failed, and why', async () => {
    const waits = asks();
    const world = harness(waits, { worker: book().implementation });
    const { id } = await world.begin();
    await world.run(id, { maxMs: 2 * HOUR });
    const { of, past } = await why(world, waits, id);
    const failure = '(no-answer: the callback was not answered in time)';
    expect(of('paid')?.because).toBe(`it was not answered with a success ${failure}`);
    expect(past('paid')).toEqual([`it failed ${failure}`]);
  });

  it('that is an approval: that a person is waited for', async () => {
    const waits = flow((w) => void w.approval('ok', { within: '2h' }));
    const world = harness(waits, {});
    const { id, startedAt } = await world.begin();
    expect((await why(world, waits, id)).of('ok')).toMatchObject({
      because: 'a person has not answered yet',
      next: {
        what: 'a person approves or rejects; in silence it fails',
        at: startedAt + 2 * HOUR,
        who: 'person',
      },
    });
    const token = await tokenOf(world, id, 'ok');
    await settleCallback(world.scheduler, token, { kind: 'complete', output: {} });
    await world.run(id);
    expect((await why(world, waits, id)).of('ok')?.because).toBe('a person approved it');
  });
});

const inner = workflow('inner', { input, within: '1h' }, (w) => {
  w.step('x', worker, {}, { ladder: [retry(0)] });
}) as Workflow;

describe('why, of a step with executions of its own', () => {
  const outer = flow((w) => {
    const sub = w.child('sub', inner, {});
    const all = w.map('all', worker, w.input['items'] as never, () => ({}), {
      after: [sub],
      ladder: [retry(0)],
    });
    w.step('last', worker, {}, { after: [all], ladder: [retry(0)] });
  });
  const items = Array.from({ length: 60 }, (_, n) => n);

  it('that it is to begin, how many are started and have ended, and which is waited for', async () => {
    const world = harness(outer, { worker: book().implementation });
    const { id } = await world.begin({ items });
    const started = await why(world, outer, id);
    expect(started.of('sub')).toMatchObject({
      status: 'running',
      because: '0 of 1 executions ended',
      next: { what: `execution ${id}.sub.0 end`, who: 'child' },
    });
    expect(started.told.next).toEqual(started.of('sub')?.next);
    await world.run(id, { until: ({ steps }) => (steps['all']?.children?.started ?? 0) > 0 });
    const mapped = await why(world, outer, id);
    expect(mapped.of('all')).toMatchObject({
      because: '1 of 3 executions ended (1 succeeded)',
      next: { what: `execution ${id}.all.1 and 1 other end`, who: 'child' },
    });
    expect(mapped.past('sub')).toEqual(['done: 1 of 1 executions ended (1 succeeded)']);
    await world.run(id);
    const end = await why(world, outer, id);
    expect(end.past('all')).toEqual(['done: 3 of 3 executions ended (3 succeeded)']);
  });

  it('of which one failed', async () => {
    const world = harness(outer, { worker: book(() => true).implementation });
    const { id } = await world.begin({ items });
    await world.run(id);
    const { of } = await why(world, outer, id);
    expect(of('sub')?.because).toMatch(
      /^it failed \(child-failed: its execution \S+\.sub\.0 ended: failed\)$/,
    );
    // Its own execution tells the rest.
    const child = await why(world, outer, `${id}.sub.0`);
    expect(child.of('x')?.because).toContain('no');
    expect(child.told.past.at(-1)?.what).toBe('it ended: failed');
  });

  it('that is being undone, and then is', async () => {
    const world = harness(outer, {
      worker: {
        ...book().implementation,
        execute: async ({ step }) => {
          if (step === 'last') throw new PermanentError('no');
          return {};
        },
      },
    });
    const { id } = await world.begin({ items });
    await world.run(id, { until: ({ steps }) => steps['all']?.status === 'undoing' });
    const undoing = await why(world, outer, id);
    expect(undoing.of('all')?.because).toMatch(
      /^its executions are canceled, and those that succeeded are undone: 3 of 3 executions ended/,
    );
    expect(undoing.past('all')).toEqual(['its executions were stopped']);
    expect(undoing.of('sub')?.because).toBe("it is undone after 'all'");
    await world.run(id);
    const end = await why(world, outer, id);
    expect(end.past('all')).toEqual(['undone: 3 of 3 executions ended (3 canceled)']);
    const child = await why(world, outer, `${id}.sub.0`);
    expect(child.told.past.map(({ what }) => what)).toContain(
      'it is being undone because of the end of the execution that it is a part of',
    );
  });

  it('in silence after a cancel it is never started', async () => {
    const waits = flow((w) => {
      const ok = w.approval('ok', { within: '2h' });
      w.child('sub', inner, {}, { after: [ok] });
    });
    const world = harness(waits, {});
    const { id } = await world.begin();
    await cancel(world.scheduler, id, {});
    await world.run(id);
    const { of } = await why(world, waits, id);
    expect([of('ok')?.because, of('sub')?.because]).toEqual([
      'the execution is being undone, so it will never start',
      'it was never started',
    ]);
  });
});
