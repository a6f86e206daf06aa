/** What is held back and what that leaves of an attempt's charge, field by field (S9, L1, S12). */

import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Mode, Deferred, Step } from '../../../lib/core/records/state.ts';
import { deferral, undoOverdueAt } from '../../../lib/core/step/defer.ts';
import type { Work } from '../../../lib/core/step/ready.ts';
import { changesOf, planOf, recordOf, see, inputs, stateOf } from '../one-step.ts';
import { undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const DAY = 86_400_000;
const step = undoableOf('it');
const deferred = (mode: Mode, why: Deferred['why'] = 'budget'): Deferred => ({ mode, why, at: NOW });
const workOf = (mode: Mode, more: Partial<Work> = {}): Work => ({
  step,
  mode,
  attempt: 1,
  sinceAt: NOW - 7,
  dueAt: NOW - 7,
  ...more,
});

describe('work that is held back', () => {
  const defer = (mode: Mode, state: Snapshot) =>
    deferral(workOf(mode), state, { why: 'budget', retryAt: NOW + 9 }, inputs).step;

  const retrying = recordOf('it', 'retrying', { changedAt: 5, attempt: 2, stageAttempt: 1 });

  it('of an undo remembers since when, once', () => {
    const done = recordOf('it', 'done');
    expect(defer('undo', stateOf([done])).undoDeferredAt).toBe(NOW);
    expect(defer('undo', stateOf([{ ...done, undoDeferredAt: 5 }])).undoDeferredAt).toBe(5);
    expect(defer('execute', stateOf([retrying]))).not.toHaveProperty('undoDeferredAt');
    const unknown = recordOf('it', 'unknown');
    expect(defer('probe', stateOf([unknown]))).not.toHaveProperty('undoDeferredAt');
  });

  it('says since when its agent is not deployed, however often that was found', () => {
    const why = 'not-deployed';
    const first = { mode: 'undo', why, at: NOW, since: NOW };
    const state = stateOf([recordOf('it', 'done')]);
    const of = (work: Work) => deferral(work, state, { why, retryAt: NOW + 9 }, inputs).step.deferred;
    expect(of(workOf('undo'))).toStrictEqual(first);
    const before = (earlier: Partial<Deferred>) =>
      of(workOf('undo', { deferred: { mode: 'undo', why, at: NOW - 5, ...earlier } }));
    expect(before({ since: NOW - 9 })).toStrictEqual({ ...first, since: NOW - 9 });
    expect(before({})).toStrictEqual(first);
    expect(before({ why: 'breaker', since: NOW - 9 })).toStrictEqual(first);
  });
});

describe('an undo that is held back', () => {
  const cause = { kind: 'cancel', at: NOW - 5, failure: { code: 'x', message: 'y' } } as const;
  const back = recordOf('it', 'compensating', {
    undoAttempt: 1,
    changedAt: 5,
    retryAt: NOW + 9,
    undoDeferredAt: NOW - DAY,
    deferred: deferred('undo'),
  });
  const state = (record: Step, ...more: Step[]) =>
    stateOf([record, ...more], { status: 'compensating', cause, wakeAt: NOW });

  it('is overdue after a day, while it is', () => {
    const at = (more: Partial<Step>) => undoOverdueAt(recordOf('it', 'compensating', more));
    const never = Number.POSITIVE_INFINITY;
    expect(at({ deferred: deferred('undo'), undoDeferredAt: 5 })).toBe(5 + DAY);
    expect(at({ deferred: deferred('undo') })).toBe(never);
    expect(at({ deferred: deferred('probe'), undoDeferredAt: 5 })).toBe(never);
    expect(at({ undoDeferredAt: 5 })).toBe(never);
  });

  it('is given up then, in the step’s record alone', () => {
    const { write, ...rest } = see(planOf(step), state(back));
    expect(write).toStrictEqual({ executionId: 'e-1', step: expect.anything() });
    expect(changesOf(back, write?.step)).toStrictEqual({
      status: 'compensation-failed',
      version: 2,
      writeId: 'w-new',
      changedAt: NOW,
      retryAt: null,
      undoDeferredAt: null,
      deferred: null,
      failure: {
        code: 'undo-overdue',
        message:
          'for a day nobody could undo it: its service does not answer, nobody takes its messages, or its agent is not deployed',
      },
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['x'] },
      notes: [{ what: 'undo-given-up', executionId: 'e-1', step: 'it' }],
    });
  });

  const givenUp = (given: Snapshot, plan = planOf(step)) => {
    const after = see(plan, given).write?.step;
    return after?.status === 'compensation-failed' ? after.name : undefined;
  };

  it('is found among those that are not overdue', () => {
    const two = planOf(undoableOf('a'), step);
    expect(givenUp(state(recordOf('a', 'done'), back), two)).toBe('it');
    expect(givenUp(state({ ...back, name: 'a', undoDeferredAt: NOW }, back), two)).toBe('it');
  });

  it('of a list that goes forward no attempt is given up', () => {
    const list = { ...planOf(step), tolerated: 1 };
    const forward = stateOf([{ ...back, status: 'retrying', mayHaveActed: true }], { wakeAt: NOW });
    expect(givenUp(forward, list)).toBeUndefined();
    expect(givenUp(stateOf([{ ...back, status: 'failed', mayHaveActed: true }], { wakeAt: NOW }), list)).toBe(
      'it',
    );
  });
});
