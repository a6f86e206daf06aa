/**
 * The attempts of a step as its history shows them.
 *
 * Owns: what is kept of an attempt, and how many are. Does not own: how an attempt ends (`report.ts`).
 */

import type { Failure } from '../records/failure.ts';
import { given } from '../records/given.ts';
import type { Attempt, LeasedStep } from '../records/state.ts';

const MAX_HISTORY = 20;

/** With the attempt under way, which ends so. */
export const historyOf = (
  { mode, key, keyVariant, keyInput, ...record }: LeasedStep,
  outcome: Attempt['outcome'],
  now: number,
  failure: Failure | undefined,
): Attempt[] => {
  const attempt: Attempt = {
    number: mode === 'undo' ? record.undoAttempt : record.attempt,
    mode,
    ...(key === 1 ? {} : { key }),
    ...(keyVariant === 0 ? {} : { variant: keyVariant }),
    ...(keyInput === undefined ? {} : { given: true as const }),
    claimedAt: record.claimedAt ?? now,
    endedAt: now,
    outcome,
    ...given({ failure }),
  };
  const all = [...record.attempts, attempt];
  if (all.length <= MAX_HISTORY) return all;
  // Of what is forgotten first, not the latest word on why the step failed: a condition may read it.
  const kept = all.findLastIndex(({ mode: of }) => of !== 'undo');
  return all.toSpliced(kept === 0 ? 1 : 0, all.length - MAX_HISTORY);
};
