/**
 * Parking: a piece of work is held back until a time, and no attempt is charged for it.
 *
 * Owns: the write of `retryAt` that holds it back, who may still take it meanwhile, and what an attempt that a dead
 * service failed leaves of its charge. Does not own: whether the service is dead (`breaker.ts`), the gaps between
 * dispatches (`watch.ts`).
 *
 * S9 a dead service costs no attempt. S12 the write makes stale claims conflict, so nobody writes the step before
 * `retryAt` but with the watch drawn near in the same transaction; the watch may go as far as that.
 */

import { type Hold, heldUntil } from './breaker.ts';
import type { HeldStep, Parked, Snapshot, Step } from './state.ts';
import type { Work } from './work.ts';
import { blankStep, type Stamp, stepAfter } from './write.ts';

/** After so long a dead service no longer excuses a failed attempt: an undo without end would never be a person's. */
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
    ...blankStep(name, state.execution.epoch),
    changedAt: work.sinceAt,
  };
  const { epoch } = state.execution;
  return stepAfter(before, 'park', stamp, {
    epoch,
    retryAt,
    parked,
    ...(met ? { changedAt: stamp.now } : {}),
  });
}

export const parkedBy = (work: Work, why: Parked['why'], now: number, hold?: Hold): Parked => ({
  mode: work.mode,
  why,
  at: now,
  ...(hold === undefined ? {} : { since: hold.since }),
});

/** A message that comes after all may still be taken: only a dead service must not be called. */
export const isOpenToLateMessages = (work: Work): boolean =>
  work.parked !== undefined && work.parked.why !== 'breaker';

export interface Excuse {
  readonly retryAt: number;
  readonly parked: Parked;
  readonly rungAttempt?: number;
  readonly undoAttempt?: number;
}

/** What an attempt that the dead service failed changes: it waits like all others, and its charge is given back. */
export function excused(record: HeldStep, hold: Hold | undefined, stamp: Stamp): Excuse | undefined {
  if (hold === undefined || stamp.now - hold.since > MAX_EXCUSED_MS) return undefined;
  const charge =
    record.mode === 'execute'
      ? { rungAttempt: record.rungAttempt - 1 }
      : record.mode === 'undo'
        ? { undoAttempt: record.undoAttempt - 1 }
        : {};
  return {
    ...charge,
    retryAt: heldUntil(hold, stamp.now, stamp.random),
    parked: { mode: record.mode, why: 'breaker', at: stamp.now, since: hold.since },
  };
}
