/**
 * Attempts of one agent that a bug in its code has ended, kept beside its breaker. They neither open nor keep
 * open the breaker, because its service is not involved.
 *
 * Owns: how they are counted, and how long they are reported. Does not own: which errors are bugs (`bug.ts`),
 * the words (`explain/situation.ts`).
 */

import type { Failure } from './failure.ts';

export interface Bugs {
  /**
   * When the first attempt met the bug, counted since a time without bugs. Answers in between do not matter,
   * because a bug may need certain inputs.
   */
  readonly since: number;
  /** When the latest attempt met it. */
  readonly at: number;
  /** The number of attempts; a lower bound. */
  readonly attempts: number;
  /** The latest failure. */
  readonly failure: Failure;
}

/**
 * After this time without another one, bugs are no longer reported: the code was fixed, or no input reaches
 * the bug.
 */
export const BUG_NEWS_MS = 900_000;

export function bugsAfter(before: Bugs | undefined, attempts: number, failure: Failure, now: number): Bugs {
  const known = bugsNow(before, now);
  return {
    since: known?.since ?? now,
    at: now,
    attempts: (known?.attempts ?? 0) + attempts,
    failure,
  };
}

/** The bugs that an operator must know about. */
export const bugsNow = (bugs: Bugs | undefined, now: number): Bugs | undefined =>
  bugs !== undefined && now - bugs.at < BUG_NEWS_MS ? bugs : undefined;
