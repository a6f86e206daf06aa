/** What is held back and what that leaves of an attempt's charge, field by field (S9, L1, S12). */

import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Mode, Parked, Step } from '../../../lib/core/records/state.ts';
import { parkedBy, parkedStep, undoOverdueAt } from '../../../lib/core/step/defer.ts';
import type { Work } from '../../../lib/core/step/ready.ts';
import { changesOf, planOf, recordOf, see, stamp, stateOf } from '../one-step.ts';
import { undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const DAY = 86_400_000;
const step = undoableOf('it');
const parked = (mode: Mode, why: Parked['why'] = 'budget'): Parked => ({ mode, why, at: NOW });
const workOf = (mode: Mode, more: Partial<Work> = {}): Work => ({
  step,
  mode,
  attempt: 1,
  sinceAt: NOW - 7,
  dueAt: NOW - 7,
  ...more,
});

describe('work that is held back', () => {
  const park = (mode: Mode, state: Snapshot, met = false) =>
    parkedStep(workOf(mode), state, parked(mode), NOW + 9, met, stamp);

  const retrying = recordOf('it', 'retrying', { changedAt: 5, attempt: 2, rungAttempt: 1 });

  it('of an undo remembers since when, once', () => {
    const done = recordOf('it', 'done');
    expect(park('undo', stateOf([done])).undoParkedAt).toBe(NOW);
    expect(park('undo', stateOf([{ ...done, undoParkedAt: 5 }])).undoParkedAt).toBe(5);
    expect(park('execute', stateOf([retrying]))).not.toHaveProperty('undoParkedAt');
    const unknown = recordOf('it', 'unknown');
    expect(park('probe', stateOf([unknown]))).not.toHaveProperty('undoParkedAt');
  });

  it('says since when its agent is not deployed, however often that was found', () => {
    const why = 'not-deployed';
    const first = { mode: 'undo', why, at: NOW, since: NOW };
    expect(parkedBy(workOf('undo'), why, NOW)).toStrictEqual(first);
    const before = (earlier: Partial<Parked>) =>
      parkedBy(workOf('undo', { parked: { mode: 'undo', why, at: NOW - 5, ...earlier } }), why, NOW);
    expect(before({ since: NOW - 9 })).toStrictEqual({ ...first, since: NOW - 9 });
    expect(before({})).toStrictEqual(first);
    expect(before({ why: 'breaker', since: NOW - 9 })).toStrictEqual(first);
  });
});

describe('an undo that is held back', () => {
  const cause = { kind: 'cancel', at: NOW - 5, failure: { code: 'x', message: 'y' } } as const;
  const back = recordOf('it', 'undoing', {
    undoAttempt: 1,
    changedAt: 5,
    retryAt: NOW + 9,
    undoParkedAt: NOW - DAY,
    parked: parked('undo'),
  });
  const state = (record: Step, ...more: Step[]) =>
    stateOf([record, ...more], { status: 'undoing', cause, watchAt: NOW });

  it('is overdue after a day, while it is', () => {
    const at = (more: Partial<Step>) => undoOverdueAt(recordOf('it', 'undoing', more));
    const never = Number.POSITIVE_INFINITY;
    expect(at({ parked: parked('undo'), undoParkedAt: 5 })).toBe(5 + DAY);
    expect(at({ parked: parked('undo') })).toBe(never);
    expect(at({ parked: parked('probe'), undoParkedAt: 5 })).toBe(never);
    expect(at({ undoParkedAt: 5 })).toBe(never);
  });

  it('is given up then, in the step’s record alone', () => {
    const { write, ...rest } = see(planOf(step), state(back));
    expect(write).toStrictEqual({ executionId: 'e-1', step: expect.anything() });
    expect(changesOf(back, write?.step)).toStrictEqual({
      status: 'undo-failed',
      version: 2,
      writeId: 'w-new',
      changedAt: NOW,
      retryAt: null,
      undoParkedAt: null,
      parked: null,
      failure: {
        code: 'undo-held-up',
        message:
          'for a day nobody could undo it: its service does not answer, nobody takes its messages, or its agent is not deployed',
      },
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'look', fresh: true, concern: ['x'] },
      notes: [{ what: 'undo-given-up', executionId: 'e-1', step: 'it' }],
    });
  });

  const givenUp = (given: Snapshot, plan = planOf(step)) => {
    const after = see(plan, given).write?.step;
    return after?.status === 'undo-failed' ? after.name : undefined;
  };

  it('is found among those that are not overdue', () => {
    const two = planOf(undoableOf('a'), step);
    expect(givenUp(state(recordOf('a', 'done'), back), two)).toBe('it');
    expect(givenUp(state({ ...back, name: 'a', undoParkedAt: NOW }, back), two)).toBe('it');
  });

  it('of a list that goes forward no attempt is given up', () => {
    const list = { ...planOf(step), tolerated: 1 };
    const forward = stateOf([{ ...back, status: 'retrying', mayHaveActed: true }], { watchAt: NOW });
    expect(givenUp(forward, list)).toBeUndefined();
    expect(
      givenUp(stateOf([{ ...back, status: 'failed', mayHaveActed: true }], { watchAt: NOW }), list),
    ).toBe('it');
  });
});
