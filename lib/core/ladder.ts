/**
 * The ladder: what is tried next after a failure, and when.
 *
 * Owns: the count of attempts, exponential backoff with full jitter, the retries of probes and undos. Does not own:
 * the dice (the random number is an argument) or the write that follows.
 */

import { MAX_DURATION_MS } from './duration.ts';
import type { PlanStep, RetryRung } from './plan.ts';

/** Undecided probes before the outcome is given up and the step is undone as one that may have acted. */
export const MAX_PROBES = 20;
const PROBE_BACKOFF: RetryRung = { kind: 'retry', attempts: MAX_PROBES, firstMs: 1_000, maxMs: 60_000 };

/**
 * Full jitter: a random part of min(max, first · 2^(n-1)), for the n-th retry (n from 1).
 * @param random in [0, 1)
 * @returns whole ms in [0, maxMs]
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoffMs(rung: RetryRung, n: number, random: number): number {
  // 2^50 ms is past every allowed maximum; the clamp keeps the product finite for any n.
  const ceilingMs = Math.min(rung.maxMs, rung.firstMs * 2 ** Math.min(Math.max(n - 1, 0), 50));
  return Math.floor(ceilingMs * Math.min(Math.max(random, 0), 1));
}

/**
 * When the next attempt may start, or nothing when the ladder is at its end.
 * @param attempt attempts claimed so far, ≥ 1
 */
export function nextAttemptAt(
  step: PlanStep,
  attempt: number,
  now: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  let before = 0;
  for (const rung of step.ladder) {
    if (attempt <= before + rung.attempts) {
      const waitMs = Math.max(backoffMs(rung, attempt - before, random), retryAfterMs);
      return now + Math.min(waitMs, MAX_DURATION_MS);
    }
    before += rung.attempts;
  }
  return undefined;
}

/** When the next attempt to undo may start, or nothing. @param undoAttempt attempts to undo claimed so far */
export function nextUndoAt(
  step: PlanStep,
  undoAttempt: number,
  now: number,
  random: number,
): number | undefined {
  if (step.undo === 'none' || undoAttempt > step.undo.attempts) return undefined;
  return now + backoffMs(step.undo, undoAttempt, random);
}

/** When to probe again after `probes` probes without a verdict. */
export const nextProbeAt = (probes: number, now: number, random: number): number =>
  now + backoffMs(PROBE_BACKOFF, probes, random);
