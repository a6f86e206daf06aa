/**
 * The attempts of a step as its history shows them.
 *
 * Owns: the part of an attempt that is kept, how many are kept, and how many are left out. Does not own: how
 * an attempt ends (`report.ts`).
 *
 * The first attempts show how it began, the latest how it is now; attempts between them are left out.
 */

import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import type { Attempt, LeasedStep, Step } from '../records/state.ts';

const MAX_HISTORY = 20;
/** How many of the first attempts are kept. */
export const FIRST_KEPT = 5;

/** The attempts that a record keeps. */
type History = Pick<Step, 'attempts' | 'leftOut'>;

/** The attempts left out of a history. */
export interface LeftOut {
  readonly count: number;
}

/** The history with the attempt under way and its outcome. */
export function historyOf(
  record: LeasedStep,
  outcome: Attempt['outcome'],
  now: number,
  failure: Failure | undefined,
): History {
  const { mode, key, keyVariant, keyInput } = record;
  return withAttempt(record, {
    number: mode === 'undo' ? record.undoAttempt : record.attempt,
    mode,
    ...(key === 1 ? {} : { key }),
    ...(keyVariant === 0 ? {} : { variant: keyVariant }),
    ...(keyInput === undefined ? {} : { given: true as const }),
    claimedAt: record.claimedAt ?? now,
    endedAt: now,
    outcome,
    ...defined({ failure }),
  });
}

/** The history of a record with one more attempt. */
export function withAttempt(record: Step, attempt: Attempt): History {
  const all = [...record.attempts, attempt];
  const { leftOut = 0 } = record;
  const extra = all.length - MAX_HISTORY;
  if (extra <= 0) return { attempts: all, ...(leftOut === 0 ? {} : { leftOut }) };
  // Keeps the latest attempt that shows why the step failed: a condition may read it.
  const kept = all.findLastIndex(({ mode }) => mode !== 'undo');
  const from = kept === FIRST_KEPT ? FIRST_KEPT + 1 : FIRST_KEPT;
  return { attempts: all.toSpliced(from, extra), leftOut: leftOut + extra };
}

/** How many attempts a record does not show; undefined if it shows all. */
export const leftOutOf = ({ leftOut: count = 0 }: Step): LeftOut | undefined =>
  count === 0 ? undefined : { count };

/** True if attempts are missing before this one, in a history that has lost some from its middle. */
export function isAfterLeftOut(attempts: readonly Pick<Attempt, 'mode' | 'number'>[], at: number): boolean {
  const kept = attempts.findLastIndex(({ mode }) => mode !== 'undo');
  if (kept !== FIRST_KEPT) return at === FIRST_KEPT;
  // An attempt that is kept because it shows why the step failed may be alone between two missing ones.
  const skips = (attempts[FIRST_KEPT]?.number ?? 0) - (attempts[FIRST_KEPT - 1]?.number ?? 0) > 1;
  return at === FIRST_KEPT + 1 || (at === FIRST_KEPT && skips);
}
