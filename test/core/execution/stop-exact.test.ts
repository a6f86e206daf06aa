/** What stops an execution, and what is written then: failure, deadline, the point of no return (L1, S10). */

import type { Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import { endedPause, noLater, stop } from '../../../lib/core/records/change.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Cause, Execution, Pause, Step } from '../../../lib/core/records/state.ts';
import { changesOf, heldAs, planOf, recordOf, see, stamp, stateOf } from '../one-step.ts';
import { agentStepOf, callbackOf, undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const failure = { code: 'x', message: 'y' };
const all = { kind: 'look', fresh: true, concern: 'all' } as const;
const pause = (number: number, more: Partial<Pause> = {}): Pause => ({
  number,
  at: NOW - 9,
  reason: '',
  withinMs: 1,
  ...more,
});
const executionOf = (more: Partial<Execution>): Execution => stateOf([], more).execution;

it('a watch is never put off', () => {
  expect([
    noLater(executionOf({ watchAt: 5 }), 7),
    noLater(executionOf({ watchAt: 9 }), 7),
    noLater(executionOf({}), 7),
  ]).toStrictEqual([5, 7, 7]);
});

it('a pause that is under way ends, and none that has ended', () => {
  const over = pause(1, { endedAt: NOW - 5 });
  const of = (pauses?: Pause[]) => endedPause(executionOf(pauses === undefined ? {} : { pauses }), NOW);
  expect(of([over, pause(2)])).toStrictEqual({ pauses: [over, pause(2, { endedAt: NOW })] });
  expect([of([over]), of([]), of()]).toStrictEqual([{}, {}, {}]);
});

describe('a stop', () => {
  const cause: Cause = { kind: 'cancel', at: NOW, failure };
  it('is written to the execution, with its cause, and drawn near', () => {
    const state = stateOf([], { watchAt: NOW + 5, status: 'paused', pauses: [pause(1)] });
    const { write, ...rest } = stop(state, stamp, cause);
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'undoing',
      version: 2,
      writeId: 'w-new',
      cause,
      watchAt: NOW,
      pauses: [pause(1, { endedAt: NOW })],
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: all,
      notes: [{ what: 'undoing', executionId: 'e-1', detail: 'cancel' }],
    });
  });

  it('names the step that caused it', () => {
    const { notes } = stop(stateOf([]), stamp, { ...cause, kind: 'failure', step: 'it' });
    expect(notes).toStrictEqual([{ what: 'undoing', executionId: 'e-1', step: 'it', detail: 'failure' }]);
  });
});

describe('a step that failed for good', () => {
  const plan = planOf(undoableOf('a'), agentStepOf('it'));
  const failed = recordOf('it', 'failed', { failure });
  const done = recordOf('a', 'done');
  const causeIn = (state: Snapshot, of: Plan = plan) => see(of, state).write?.execution?.cause;

  it('stops its execution', () => {
    const { write, ...rest } = see(plan, stateOf([done, failed]));
    expect(write?.step).toBeUndefined();
    expect(write?.execution).toMatchObject({
      status: 'undoing',
      cause: { kind: 'failure', at: NOW, step: 'it', failure },
    });
    expect(write?.execution?.cause).not.toHaveProperty('undo');
    expect(rest).toMatchObject({ next: all, notes: [{ what: 'undoing', step: 'it', detail: 'failure' }] });
  });

  it('has a failure, whatever its record says', () => {
    expect(causeIn(stateOf([recordOf('it', 'failed')]))?.failure).toStrictEqual({
      code: 'failed',
      message: 'the step failed',
    });
  });

  it.each(['running', 'waiting'] as const)('while it is %s', (status) => {
    expect(causeIn(stateOf([failed], { status }))?.kind).toBe('failure');
  });
  it.each(['pausing', 'paused', 'undoing'] as const)('and not while it is %s', (status) => {
    const state = stateOf([done, failed], {
      status,
      pauses: [pause(1, { pausedAt: NOW, deadlineAt: NOW + 9 })],
    });
    expect(see(plan, state).notes).not.toContainEqual(expect.objectContaining({ what: 'undoing' }));
  });

  it('of a list stops it when it is one more than tolerated, undone or not', () => {
    const items = planOf(agentStepOf('a'), agentStepOf('b'), agentStepOf('it'));
    const records = [recordOf('a', 'done'), recordOf('b', 'undone', { failure }), recordOf('it', 'failed')];
    const stepOf = (tolerated: number) => causeIn(stateOf(records), { ...items, tolerated })?.step;
    expect([0, 1, 2].map(stepOf)).toStrictEqual(['b', 'it', undefined]);
    expect(causeIn(stateOf([recordOf('b', 'undone')]), items)).toBeUndefined();
  });
});

describe('behind a point of no return', () => {
  const point = agentStepOf('p', { pointOfNoReturn: true });
  const plan = planOf(point, agentStepOf('it', { after: [] }), callbackOf('c'));
  const past = recordOf('p', 'done');
  const open = recordOf('p', 'unknown', { mayHaveActed: true });

  it('a person is asked about what failed, which is written to the step', () => {
    const failed = recordOf('it', 'failed', { failure, retryAt: 5, changedAt: 5 });
    const { write, ...rest } = see(plan, stateOf([past, failed]));
    expect(write).toStrictEqual({ executionId: 'e-1', step: expect.anything() });
    expect(changesOf(failed, write?.step)).toStrictEqual({
      status: 'waiting',
      version: 2,
      writeId: 'w-new',
      changedAt: NOW,
      retryAt: null,
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'look', fresh: true, concern: ['it'] },
      notes: [{ what: 'no-way-back', executionId: 'e-1', step: 'it' }],
    });
  });

  it('what no agent performs fails it, and all stays as it is', () => {
    const { write } = see(plan, stateOf([past, recordOf('c', 'failed', { failure })]));
    expect(write?.execution).toMatchObject({
      status: 'undoing',
      cause: { kind: 'failure', step: 'c', undo: false },
    });
  });

  it('what is not failed any more fails it, too', () => {
    const list = { ...plan, tolerated: 0 };
    const { write } = see(list, stateOf([past, recordOf('it', 'undone', { failure })]));
    expect(write?.execution?.cause).toMatchObject({ step: 'it', undo: false });
  });

  it('a failure waits while it is open whether the point is passed', () => {
    const { write } = see(plan, stateOf([open, recordOf('it', 'failed')]));
    expect(write?.step).toBeUndefined();
    expect(write?.execution?.status).toBe('running');
  });
});

describe('the deadline', () => {
  const step = agentStepOf('it');
  const at = (ms: number, more: Partial<Execution> = {}, records: Step[] = [], of: PlanStep = step) =>
    see(planOf(of), stateOf(records, { deadlineAt: NOW + ms, ...more }));
  it('stops what is not over', () => {
    const { write, next, notes } = at(0);
    expect(write?.execution).toMatchObject({
      status: 'undoing',
      cause: {
        kind: 'deadline',
        at: NOW,
        failure: { code: 'deadline', message: 'the execution was not over within its time' },
      },
    });
    expect(write?.execution?.cause).not.toHaveProperty('step');
    expect([next, notes]).toStrictEqual([all, [{ what: 'undoing', executionId: 'e-1', detail: 'deadline' }]]);
  });

  const isStopped = (decision: ReturnType<typeof at>) => decision.write?.execution?.status === 'undoing';
  it('stops it to the millisecond, also while a person is asked, and not during a pause', () => {
    expect([at(0), at(-1), at(1), at(0, { status: 'waiting' })].map(isStopped)).toStrictEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(isStopped(at(0, { status: 'paused', pauses: [pause(1)] }))).toBe(false);
  });

  it('stops nothing that cannot be undone, or of which that is open', () => {
    const point = agentStepOf('it', { pointOfNoReturn: true });
    expect(isStopped(at(0, {}, [recordOf('it', 'unknown', { mayHaveActed: true })], point))).toBe(false);
    expect(isStopped(at(0, {}, [recordOf('it', 'sealed', { mayHaveActed: true })], point))).toBe(false);
    expect(isStopped(at(0, {}, [recordOf('it', 'retrying')], point))).toBe(true);
  });
});

describe('a point of no return that is passed while its execution is undone', () => {
  const plan = planOf(undoableOf('a'), agentStepOf('p', { pointOfNoReturn: true }));
  const cause: Cause = { kind: 'cancel', at: NOW - 9, failure };
  const undoing = (record: Step, more: Partial<Execution> = {}) =>
    stateOf([recordOf('a', 'done'), record], { status: 'undoing', cause, watchAt: NOW + 5, ...more });
  const kept = (state: Snapshot) => see(plan, state).notes.some(({ what }) => what === 'kept');

  it('keeps what has acted: the cause says so', () => {
    const state = undoing(recordOf('p', 'done'));
    const { write, ...rest } = see(plan, state);
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      version: 2,
      writeId: 'w-new',
      cause: { ...cause, undo: false },
      watchAt: NOW,
    });
    expect(rest).toStrictEqual({ sends: [], next: all, notes: [{ what: 'kept', executionId: 'e-1' }] });
  });

  it('is one that may be, too, once nobody works on it', () => {
    expect(kept(undoing(recordOf('p', 'unknown', { mayHaveActed: true })))).toBe(true);
    expect(kept(undoing(heldAs('execute', { name: 'p' })))).toBe(false);
    expect(kept(undoing(recordOf('p', 'retrying')))).toBe(false);
  });

  it('is said once, and only of what is being undone for a cause', () => {
    const record = recordOf('p', 'done');
    expect(kept(undoing(record, { cause: { ...cause, undo: false } }))).toBe(false);
    const running = stateOf([recordOf('a', 'retrying'), record], { status: 'running', cause });
    expect(kept(running)).toBe(false);
    const { cause: _, ...execution } = undoing(record).execution;
    expect(kept({ ...undoing(record), execution })).toBe(false);
  });
});
