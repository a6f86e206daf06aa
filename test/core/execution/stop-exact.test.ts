/** What stops an execution, and what is written then: failure, deadline, the point of no return (L1, S10). */

import type { Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import { endedPause, stop } from '../../../lib/core/records/change.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Cause, Execution, Pause, Step } from '../../../lib/core/records/state.ts';
import { changesOf, planOf, recordOf, see, inputs, stateOf } from '../one-step.ts';
import { agentStepOf, callbackOf, undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

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

describe('a stop', () => {
  const cause: Cause = { kind: 'cancel', at: NOW, failure };

  it('names the step that caused it', () => {
    const { notes } = stop(stateOf([]), inputs, { ...cause, kind: 'failure', step: 'it' });
    expect(notes).toStrictEqual([
      { what: 'compensating', executionId: 'e-1', step: 'it', detail: 'failure' },
    ]);
  });
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
    const items = planOf(agentStepOf('a'), agentStepOf('b'), agentStepOf('it'));
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
      next: { kind: 'evaluate', fresh: true, affected: ['it'] },
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
      status: 'compensating',
      cause: {
        kind: 'deadline',
        at: NOW,
        failure: { code: 'deadline', message: 'the execution was not over within its time' },
      },
    });
    expect(write?.execution?.cause).not.toHaveProperty('step');
    expect([next, notes]).toStrictEqual([
      all,
      [{ what: 'compensating', executionId: 'e-1', detail: 'deadline' }],
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

  it('is said once, and only of what is being undone for a cause', () => {
    const record = recordOf('p', 'done');
    expect(kept(compensating(record, { cause: { ...cause, undo: false } }))).toBe(false);
    const running = stateOf([recordOf('a', 'retrying'), record], { status: 'running', cause });
    expect(kept(running)).toBe(false);
    const { cause: _, ...execution } = compensating(record).execution;
    expect(kept({ ...compensating(record), execution })).toBe(false);
  });
});
