/**
 * What stops an execution (a failure, the deadline, the point of no return), the writes then, and which child
 * executions a step must stop (L1, S10).
 */

import type { Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import { endedPause, executionAfter } from '../../../lib/core/decisions/change.ts';
import type { ExecutionEvent } from '../../../lib/core/moves.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Pause } from '../../../lib/core/records/pauses.ts';
import type { Cause, Execution, Step } from '../../../lib/core/records/state.ts';
import { changesOf, inputs, planOf, recordOf, see, stateOf } from '../one-step.ts';
import {
  agentStepOf,
  callbackOf,
  undoableOf,
  childOf,
  childrenOf,
  endsAs as ends,
  mapOf,
} from '../small-steps.ts';
import { NOW } from '../states.ts';
import type { ChildEnd, Children } from '../../../lib/core/records/children.ts';

const failure = { code: 'x', message: 'y' };
const all = { kind: 'evaluate', fresh: true, affected: 'all' } as const;
const pause = (number: number, more: Partial<Pause> = {}): Pause => ({
  number,
  at: NOW - 9,
  reason: '',
  withinMs: 1,
  ...more,
});
const executionOf = (more: Partial<Execution>): Execution => stateOf([], more).execution;

it('a pause that is under way ends, and none that has ended', () => {
  const over = pause(1, { endedAt: NOW - 5 });
  const of = (pauses?: Pause[]) => endedPause(executionOf(pauses === undefined ? {} : { pauses }), NOW);
  expect(of([over, pause(2)])).toStrictEqual({ pauses: [over, pause(2, { endedAt: NOW })] });
  expect([of([over]), of([]), of()]).toStrictEqual([{}, {}, {}]);
});

it('every move out of a pause ends it, by the person who ended it, and none within it does', () => {
  const paused = executionOf({ status: 'paused', pauses: [pause(1)] });
  const after = (event: ExecutionEvent, changes: Partial<Execution> = {}) =>
    executionAfter(paused, event, inputs, changes);
  const ended = [pause(1, { endedAt: NOW })];
  for (const event of ['resume', 'succeed', 'stop'] as const) expect(after(event).pauses).toEqual(ended);
  for (const event of ['adopt', 'set-wake-time'] as const)
    expect(after(event)).toEqual({ ...paused, version: 2, writeId: 'w-new' });
  const by = { kind: 'local', id: 'ann' } as unknown as NonNullable<Cause['by']>;
  const cause: Cause = { kind: 'cancel', at: NOW, failure, by };
  expect(after('stop', { cause }).pauses).toEqual([pause(1, { endedAt: NOW, endedBy: by })]);
  const endedPauses = [pause(1, { endedAt: NOW - 1 })];
  expect(after('resume', { pauses: endedPauses }).pauses).toEqual(endedPauses);
});

describe('a step that failed for good', () => {
  const plan = planOf(undoableOf('a'), agentStepOf('it'));
  const causeIn = (state: Snapshot, of: Plan = plan) => see(of, state).write?.execution?.cause;

  it('has a failure, whatever its record says', () => {
    expect(causeIn(stateOf([recordOf('it', 'failed')]))?.failure).toStrictEqual({
      code: 'failed',
      message: 'the step failed',
    });
  });

  it('of a list stops it when it is one more than tolerated, undone or not', () => {
    const tolerate = true as const;
    const items = planOf(agentStepOf('a'), agentStepOf('b', { tolerate }), agentStepOf('it', { tolerate }));
    const records = [
      recordOf('a', 'done'),
      recordOf('b', 'compensated', { failure }),
      recordOf('it', 'failed'),
    ];
    const stepOf = (tolerated: number) => causeIn(stateOf(records), { ...items, tolerated })?.step;
    expect([0, 1, 2].map(stepOf)).toStrictEqual(['b', 'it', undefined]);
    expect(causeIn(stateOf([recordOf('b', 'compensated')]), items)).toBeUndefined();
  });
});

describe('behind a point of no return', () => {
  const point = agentStepOf('p', { pointOfNoReturn: true });
  const plan = planOf(point, agentStepOf('it', { after: [] }), callbackOf('c'));
  const past = recordOf('p', 'done');

  it('a person is asked about what failed, which is written to the step', () => {
    const failed = recordOf('it', 'failed', { failure, retryAt: 5, changedAt: 5 });
    const { write, ...rest } = see(plan, stateOf([past, failed]));
    // The write depends on the execution's version: if the execution was stopped or ended meanwhile, no
    // person is asked (S20).
    const before = stateOf([past, failed]).execution;
    expect(write).toStrictEqual({
      executionId: 'e-1',
      step: expect.anything(),
      execution: { ...before, version: before.version + 1, writeId: 'w-new', wakeAt: NOW + 30_000 },
    });
    expect(changesOf(failed, write?.step)).toStrictEqual({
      status: 'waiting',
      version: 2,
      writeId: 'w-new',
      changedAt: NOW,
      retryAt: null,
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['x', 'it'] },
      notes: [{ what: 'no-way-back', executionId: 'e-1', step: 'it' }],
    });
  });

  it('what no agent performs fails it, and all stays as it is', () => {
    const { write } = see(plan, stateOf([past, recordOf('c', 'failed', { failure })]));
    expect(write?.execution).toMatchObject({
      status: 'compensating',
      cause: { kind: 'failure', step: 'c', undo: false },
    });
  });

  it('what is not failed any more fails it, too', () => {
    const list = { ...plan, tolerated: 0 };
    const { write } = see(list, stateOf([past, recordOf('it', 'compensated', { failure })]));
    expect(write?.execution?.cause).toMatchObject({ step: 'it', undo: false });
  });
});

describe('the deadline', () => {
  const step = agentStepOf('it');
  const at = (ms: number, more: Partial<Execution> = {}, records: Step[] = [], of: PlanStep = step) =>
    see(planOf(of), stateOf(records, { deadlineAt: NOW + ms, ...more }));
  it('stops what is not over', () => {
    const { write, next, notes } = at(0);
    expect(write?.execution).toMatchObject({
      status: 'compensating',
      cause: {
        kind: 'deadline',
        at: NOW,
        failure: { code: 'deadline', message: 'the execution did not end in time' },
      },
    });
    expect(write?.execution?.cause).not.toHaveProperty('step');
    expect([next, notes]).toStrictEqual([
      all,
      [
        {
          what: 'compensating',
          executionId: 'e-1',
          detail: 'deadline',
          failure: write?.execution?.cause?.failure,
        },
      ],
    ]);
  });
});

describe('a point of no return that is passed while its execution is undone', () => {
  const plan = planOf(undoableOf('a'), agentStepOf('p', { pointOfNoReturn: true }));
  const cause: Cause = { kind: 'cancel', at: NOW - 9, failure };
  const compensating = (record: Step, more: Partial<Execution> = {}) =>
    stateOf([recordOf('a', 'done'), record], { status: 'compensating', cause, wakeAt: NOW + 5, ...more });
  const kept = (state: Snapshot) => see(plan, state).notes.some(({ what }) => what === 'kept');

  it('keeps what has acted: the cause says so', () => {
    const state = compensating(recordOf('p', 'done'));
    const { write, ...rest } = see(plan, state);
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      version: 2,
      writeId: 'w-new',
      cause: { ...cause, undo: false },
      wakeAt: NOW,
    });
    expect(rest).toStrictEqual({ sends: [], next: all, notes: [{ what: 'kept', executionId: 'e-1' }] });
  });

  it('is reported once, and only if the execution is undone for a cause', () => {
    const record = recordOf('p', 'done');
    expect(kept(compensating(record, { cause: { ...cause, undo: false } }))).toBe(false);
    const running = stateOf([recordOf('a', 'retrying'), record], { status: 'running', cause });
    expect(kept(running)).toBe(false);
    const { cause: _, ...execution } = compensating(record).execution;
    expect(kept({ ...compensating(record), execution })).toBe(false);
  });
});

describe('executions to stop', () => {
  const cause: Cause = { kind: 'cancel', at: NOW, failure: { code: 'x', message: 'y' } };
  const stops = (steps: PlanStep[], records: Step[], more: Partial<Execution> = {}) =>
    see(planOf(...steps), stateOf(records, { status: 'compensating', cause, ...more }));
  const stopped = (
    step: PlanStep,
    record?: Step,
    more: Partial<Execution> = {},
    beside: [PlanStep, Step][] = [],
  ) => {
    const { next } = stops(
      [step, ...beside.map(([one]) => one)],
      [...(record === undefined ? [] : [record]), ...beside.map(([, one]) => one)],
      more,
    );
    return next.kind === 'stop-children'
      ? { ids: next.starts.map(({ id }) => id), goal: next.goal, below: next.below }
      : next.kind;
  };
  const running = recordOf('it', 'running', { children: childrenOf({}) });
  const one = { ids: ['e-1.it.0'], goal: 'recall', below: 1 };
  const left = { cause: { ...cause, undo: false as const } };

  it('are those under way and those that may be starting', () => {
    expect(stopped(childOf('it'), running)).toStrictEqual(one);
    expect(stopped(childOf('it'))).toStrictEqual(one);
    expect(stops([childOf('it')], [running])).toMatchObject({
      sends: [],
      next: { step: 'it', planned: { items: 1 } },
      notes: [],
    });
  });

  it('learn whether their effects are to be undone', () => {
    expect(stopped(childOf('it', { undo: 'none' }), running)).toStrictEqual({ ...one, goal: 'stop' });
    expect(stopped(childOf('it'), running, left)).toStrictEqual({ ...one, goal: 'leave' });
  });

  it('are stopped in plan order, those first that may be starting', () => {
    const done = recordOf('it', 'done', { children: childrenOf({ 0: ends('succeeded') }) });
    const other = { ...running, name: 'b' };
    expect(stopped(childOf('it'), done)).toStrictEqual(one);
    expect(stopped(childOf('it'), done, {}, [[childOf('b'), other]])).toMatchObject({ ids: ['e-1.b.0'] });
    expect(stopped(childOf('it'), running, {}, [[childOf('b'), other]])).toStrictEqual(one);
  });

  it('are fifty at a time', () => {
    const list = mapOf('it', { over: Array.from({ length: 1_500 }, (_, at) => at) });
    const some = recordOf('it', 'running', {
      children: childrenOf({ 0: ends('succeeded') }, { count: 60, started: 60 }),
    });
    const first = stopped(list, some);
    expect(first).toMatchObject({ below: 51 });
    expect((first as { ids: string[] }).ids).toHaveLength(50);
    const rest = {
      ...some,
      status: 'compensating' as const,
      children: childrenOf({}, { count: 60, started: 60, stop: { goal: 'stop', below: 10 } }),
    };
    expect(stopped(list, rest)).toMatchObject({ below: 60 });
  });

  it('of a step that cannot have any are recorded as none', () => {
    const { write } = stops([mapOf('it', { over: 5 })], [], { epoch: 3 });
    expect(write?.step).toMatchObject({
      status: 'compensating',
      epoch: 3,
      children: { count: 0, started: 0, items: 0, tolerated: 0, ended: {} },
    });
    expect(write?.step?.children).not.toHaveProperty('stop');
  });

  it('of a step that is over wait for what depends on it', () => {
    const done = recordOf('it', 'done', { children: childrenOf({ 0: ends('succeeded') }) });
    const after = undoableOf('b', { after: ['it'] });
    expect(stopped(childOf('it'), done, {}, [[after, recordOf('b', 'done')]])).toBe('idle');
    expect(stopped(childOf('it'), done, {}, [[after, recordOf('b', 'compensated')]])).toStrictEqual(one);
    const open = recordOf('it', 'failed', { children: childrenOf({}) });
    expect(stopped(childOf('it'), open, {}, [[after, recordOf('b', 'done')]])).toStrictEqual(one);
  });

  it('of a step that is over are only those that owe something', () => {
    const of = (
      status: Step['status'],
      end: ChildEnd,
      more: Partial<Execution> = {},
      undo: 'none' | 'required' = 'required',
    ) =>
      stops([childOf('it', { undo })], [recordOf('it', status, { children: childrenOf({ 0: end }) })], more);
    const kind = (...given: Parameters<typeof of>) => of(...given).next.kind;
    expect(kind('failed', ends('failed'))).toBe('evaluate');
    expect(of('failed', ends('failed')).notes).toMatchObject([{ what: 'children-stopped' }]);
    expect(of('failed', ends('canceled', true)).notes).toMatchObject([{ what: 'canceled' }]);
    expect(kind('done', ends('succeeded'))).toBe('stop-children');
    expect(of('done', ends('succeeded'), left).notes).toMatchObject([{ what: 'failed' }]);
    expect(of('done', ends('succeeded'), {}, 'none').notes).toMatchObject([{ what: 'canceled' }]);
    // The child's end arrived before its stop was recorded.
    expect(of('done', ends('compensated', true)).notes).toMatchObject([{ what: 'children-stopped' }]);
    const parts = { 0: ends('succeeded'), 1: ends('compensated', true) };
    const list = (children: Children) =>
      stops([mapOf('it')], [recordOf('it', 'done', { children })]).notes[0]?.what;
    expect(list(childrenOf(parts, { count: 2 }))).toBe('children-stopped');
    expect(list(childrenOf({}, { count: 0 }))).toBe('canceled');
    expect(stops([childOf('it')], [recordOf('it', 'done')]).notes).toMatchObject([{ what: 'canceled' }]);
    expect(of('compensated', ends('succeeded')).notes).toMatchObject([{ what: 'canceled' }]);
  });
});
