/** What is held back and what that leaves of an attempt's charge, field by field (S9, L1, S12). */

import type { Hold } from '../../../lib/core/records/events.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Mode, Parked, Step } from '../../../lib/core/records/state.ts';
import {
  excused,
  isOpenToLateMessages,
  MAX_EXCUSED_MS,
  parkedBy,
  parkedStep,
  undoOverdueAt,
} from '../../../lib/core/step/defer.ts';
import type { Work } from '../../../lib/core/step/ready.ts';
import { changesOf, heldAs, planOf, recordOf, see, stamp, stateOf } from '../one-step.ts';
import { undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const DAY = 86_400_000;
const step = undoableOf('it');
const hold: Hold = { agent: 'worker', since: NOW - 60_000, until: NOW + 40_000 };
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

  it('of a step that has no record gets its first one, since when it was due', () => {
    expect(park('execute', stateOf([], { epoch: 3 }))).toStrictEqual(
      recordOf('it', 'retrying', {
        writeId: 'w-new',
        epoch: 3,
        changedAt: NOW - 7,
        retryAt: NOW + 9,
        parked: parked('execute'),
      }),
    );
  });

  const retrying = recordOf('it', 'retrying', { changedAt: 5, attempt: 2, rungAttempt: 1 });
  it('charges nothing, and is new since now only where somebody had taken the message up', () => {
    const changes = { epoch: 2, version: 2, writeId: 'w-new', retryAt: NOW + 9, parked: parked('execute') };
    const state = stateOf([retrying], { epoch: 2 });
    expect(changesOf(retrying, park('execute', state))).toStrictEqual(changes);
    expect(changesOf(retrying, park('execute', state, true))).toStrictEqual({ ...changes, changedAt: NOW });
  });

  it('of an undo remembers since when, once', () => {
    const done = recordOf('it', 'done');
    expect(park('undo', stateOf([done])).undoParkedAt).toBe(NOW);
    expect(park('undo', stateOf([{ ...done, undoParkedAt: 5 }])).undoParkedAt).toBe(5);
    expect(park('execute', stateOf([retrying]))).not.toHaveProperty('undoParkedAt');
    const unknown = recordOf('it', 'unknown');
    expect(park('probe', stateOf([unknown]))).not.toHaveProperty('undoParkedAt');
  });

  it('says why, and of a dead service since when', () => {
    expect(parkedBy(workOf('probe'), 'unclaimed', NOW)).toStrictEqual({
      mode: 'probe',
      why: 'unclaimed',
      at: NOW,
    });
    expect(parkedBy(workOf('undo'), 'breaker', NOW, hold)).toStrictEqual({
      mode: 'undo',
      why: 'breaker',
      at: NOW,
      since: hold.since,
    });
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

  it('may be taken meanwhile, but for a dead service', () => {
    const open = (['unclaimed', 'budget', 'not-deployed', 'breaker'] as const).map((why) =>
      isOpenToLateMessages(workOf('execute', { parked: parked('execute', why) })),
    );
    expect([...open, isOpenToLateMessages(workOf('execute'))]).toStrictEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('an attempt that a dead service failed', () => {
  const excuse = { retryAt: NOW + 55_001, parked: { why: 'breaker', at: NOW, since: hold.since } };
  it.each<[Mode, Partial<Step>, object]>([
    ['execute', { rungAttempt: 3 }, { rungAttempt: 2 }],
    ['probe', { rungAttempt: 3 }, {}],
    ['undo', { undoAttempt: 3 }, { undoAttempt: 2, undoParkedAt: NOW }],
    ['undo', { undoAttempt: 3, undoParkedAt: 5 }, { undoAttempt: 2, undoParkedAt: 5 }],
  ])('is not charged (%s %j)', (mode, more, charge) => {
    expect(excused(heldAs(mode, more), hold, stamp)).toStrictEqual({
      ...charge,
      retryAt: excuse.retryAt,
      parked: { ...excuse.parked, mode },
    });
  });

  it('is excused for a day', () => {
    const since = (ms: number) => excused(heldAs('execute'), { ...hold, since: NOW - ms }, stamp);
    expect(MAX_EXCUSED_MS).toBe(DAY);
    expect([since(DAY), since(DAY + 1)]).toStrictEqual([expect.anything(), undefined]);
    expect(excused(heldAs('execute'), undefined, stamp)).toBeUndefined();
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
  it('not a moment before, nor what is no undo now', () => {
    expect(givenUp(state({ ...back, undoParkedAt: NOW - DAY + 1 }))).toBeUndefined();
    const { undoParkedAt: _, ...fresh } = back;
    expect(givenUp(state(fresh))).toBeUndefined();
    // What lies before it is due for no undo yet.
    const two = planOf(undoableOf('a'), undoableOf('it', { after: ['a'] }));
    const both = state(recordOf('it', 'done'), { ...back, name: 'a', status: 'done' });
    expect(givenUp(both, two)).toBeUndefined();
  });

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
