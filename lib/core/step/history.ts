/**
 * The attempts of a step as its history shows them.
 *
 * Owns: what is kept of an attempt, how many are, and how many are known to be left out. Does not own: how
 * an attempt ends (`report.ts`).
 *
 * The first attempts say how it all began, the latest how it stands: what is left out is between them.
 */

import type { Failure } from '../values/failure.ts';
import { given } from '../values/given.ts';
import { type Attempt, isLeased, type LeasedStep, type Step } from '../records/state.ts';

const MAX_HISTORY = 20;
/** How many of these are kept from the beginning. */
export const FIRST_KEPT = 5;

/** The attempts that a record keeps. */
type History = Pick<Step, 'attempts' | 'leftOut'>;

/**
 * The attempts left out of a history; `atLeast`: those before its first one were dropped by an earlier
 * version, which did not count them.
 */
export interface LeftOut {
  readonly count: number;
  readonly atLeast?: true;
}

/** With the attempt under way, which ends so. */
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
    ...given({ failure }),
  });
}

/** The history of a record with one more attempt. */
export function withAttempt(record: Step, attempt: Attempt): History {
  const all = [...record.attempts, attempt];
  const { leftOut = leftOutBefore(record) } = record;
  const extra = all.length - MAX_HISTORY;
  if (extra <= 0) return { attempts: all, ...(leftOut === 0 ? {} : { leftOut }) };
  // Not the latest word on why the step failed: a condition may read it.
  const kept = all.findLastIndex(({ mode }) => mode !== 'undo');
  const from = kept === FIRST_KEPT ? FIRST_KEPT + 1 : FIRST_KEPT;
  return { attempts: all.toSpliced(from, extra), leftOut: leftOut + extra };
}

/** How many attempts a record does not show; nothing where it shows all. */
export function leftOutOf(record: Step): LeftOut | undefined {
  const { leftOut: count = leftOutBefore(record) } = record;
  if (count === 0) return undefined;
  return showsFirst(record) ? { count } : { count, atLeast: true };
}

/** Whether attempts are missing before this one, of a history that has lost some from its middle. */
export function isAfterLeftOut(attempts: readonly Pick<Attempt, 'mode' | 'number'>[], at: number): boolean {
  const kept = attempts.findLastIndex(({ mode }) => mode !== 'undo');
  if (kept !== FIRST_KEPT) return at === FIRST_KEPT;
  // What is kept for its word on why the step failed may stand alone between two that are missing.
  const skips = (attempts[FIRST_KEPT]?.number ?? 0) - (attempts[FIRST_KEPT - 1]?.number ?? 0) > 1;
  return at === FIRST_KEPT + 1 || (at === FIRST_KEPT && skips);
}

const showsFirst = ({ attempts: [first] }: Step): boolean =>
  first === undefined || (first.mode === 'execute' && first.number === 1);

/**
 * In a record of a version that dropped the oldest and did not count them: the attempts to execute
 * that are missing, one at least.
 */
function leftOutBefore(record: Step): number {
  if (showsFirst(record) || record.attempts.length < MAX_HISTORY) return 0;
  const shown = record.attempts.filter(({ mode }) => mode === 'execute').length;
  const underWay = isLeased(record) && record.mode === 'execute' ? 1 : 0;
  return Math.max(1, record.attempt - underWay - shown);
}
