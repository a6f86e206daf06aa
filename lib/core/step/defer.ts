/**
 * Parking: a piece of work is held back until a time, and no attempt is charged for it.
 *
 * Owns: the write of `retryAt` that holds it back, who may still take it meanwhile, what an attempt that a dead service
 * failed leaves of its charge, and when an undo is held back for too long. Does not own: whether the service is dead
 * (`breaker.ts`), the gaps between dispatches (`supervision/wake-time.ts`).
 *
 * S9 a dead service costs no attempt. S12 the write makes stale claims conflict, so nobody writes the step before
 * `retryAt` but with the watch drawn near in the same transaction; the watch may go as far as that. L1 what is held back
 * has a deadline: of an execution that goes forward its own, of an undo a day, after which a person is asked.
 */

import type { Rule } from '../plan/rule.ts';
import { blankStep, type Stamp, stepAfter } from '../records/change.ts';
import type { Hold } from '../records/events.ts';
import type { Failure } from '../records/failure.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { HeldStep, Parked, Step } from '../records/state.ts';
import { heldUntil } from './breaker.ts';
import { openWork, type Work } from './ready.ts';

/**
 * After so long a dead service no longer excuses a failed attempt, and an undo that is held back, for whatever reason, is
 * put to a person: it has no other deadline.
 */
export const MAX_EXCUSED_MS = 86_400_000;

/**
 * The record of work that is held back until `retryAt`; of a step that has none yet, its first one, with no attempt.
 * @param met somebody had taken the message up, so what was sent before is answered
 */
export function parkedStep(
  work: Work,
  state: Snapshot,
  parked: Parked,
  retryAt: number,
  met: boolean,
  stamp: Stamp,
): Step {
  const { name } = work.step;
  const before = state.steps[name] ?? {
    ...blankStep(name, state.execution),
    changedAt: work.sinceAt,
  };
  const { epoch } = state.execution;
  return stepAfter(before, 'park', stamp, {
    epoch,
    retryAt,
    parked,
    ...(work.mode === 'undo' ? parkedSince(before, stamp) : {}),
    ...(met ? { changedAt: stamp.now } : {}),
  });
}

const parkedSince = (record: Step, stamp: Stamp): Pick<Excuse, 'undoParkedAt'> => ({
  undoParkedAt: record.undoParkedAt ?? stamp.now,
});

export const parkedBy = (work: Work, why: Parked['why'], now: number, hold?: Hold): Parked => ({
  mode: work.mode,
  why,
  at: now,
  ...(hold === undefined ? {} : { since: hold.since }),
  // Asked for again and again it is missing since the first time.
  ...(why === 'not-deployed' ? { since: work.parked?.why === why ? (work.parked.since ?? now) : now } : {}),
});

/** A message that comes after all may still be taken: only a dead service must not be called. */
export const isOpenToLateMessages = (work: Work): boolean =>
  work.parked !== undefined && work.parked.why !== 'breaker';

export interface Excuse {
  readonly retryAt: number;
  readonly parked: Parked;
  readonly rungAttempt?: number;
  readonly undoAttempt?: number;
  readonly undoParkedAt?: number;
}

/** What an attempt that the dead service failed changes: it waits like all others, and its charge is given back. */
export function excused(record: HeldStep, hold: Hold | undefined, stamp: Stamp): Excuse | undefined {
  if (hold === undefined || stamp.now - hold.since > MAX_EXCUSED_MS) return undefined;
  const charge =
    record.mode === 'execute'
      ? { rungAttempt: record.rungAttempt - 1 }
      : record.mode === 'undo'
        ? { undoAttempt: record.undoAttempt - 1, ...parkedSince(record, stamp) }
        : {};
  return {
    ...charge,
    retryAt: heldUntil(hold, stamp.now, stamp.random),
    parked: { mode: record.mode, why: 'breaker', at: stamp.now, since: hold.since },
  };
}

/** When a person is asked about an undo that is still held back then. */
export const undoOverdueAt = ({ parked, undoParkedAt }: Step): number =>
  parked?.mode === 'undo' && undoParkedAt !== undefined
    ? undoParkedAt + MAX_EXCUSED_MS
    : Number.POSITIVE_INFINITY;

const HELD_UP: Failure = {
  code: 'undo-held-up',
  message:
    'for a day nobody could undo it: its service does not answer, nobody takes its messages, or its agent is not deployed',
};

/** L1 an undo that nobody may begin would hang in silence: the question to a person is another rule's. */
export const giveUpUndo: Rule = (plan, state, event) => {
  const isOverdue = (record: Step | undefined): record is Step =>
    record !== undefined && undoOverdueAt(record) <= event.now;
  if (!Object.values(state.steps).some(isOverdue)) return undefined;
  const piece = openWork(plan, state).find(
    ({ step, mode }) => mode === 'undo' && isOverdue(state.steps[step.name]),
  );
  const record = piece && state.steps[piece.step.name];
  if (record === undefined) return undefined;
  return {
    write: {
      executionId: state.execution.id,
      step: stepAfter(record, 'give-up-undo', event, {
        changedAt: event.now,
        failure: HELD_UP,
        retryAt: undefined,
        undoParkedAt: undefined,
      }),
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern: event.concern },
    notes: [{ what: 'undo-given-up', executionId: state.execution.id, step: record.name }],
  };
};
