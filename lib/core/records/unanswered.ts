/**
 * Calls to act that a service never answered, however far apart. They are too few to open the breaker, and
 * once probes have resolved them or their executions have ended, no waiting step shows the trouble.
 *
 * Owns: since when, how many, and when to report them. Does not own: the breaker (`step/breaker.ts`), the
 * words (`explain/situation.ts`).
 */

import type { Attempt } from './state.ts';

/** An attempt whose call failed. */
export interface FailedCall {
  readonly executionId: string;
  readonly step: string;
  readonly attempt: number;
  readonly mode: Attempt['mode'];
  readonly at: number;
}

export interface Unanswered {
  readonly since: number;
  readonly calls: number;
}

/** The fewest calls that are reported: a service may lose an answer or two. */
const FEWEST = 3;
const SHORTEST_MS = 60_000;
/** After this time without a call, nothing is reported: the service may answer again. */
const LONGEST_SILENCE_MS = 86_400_000;

/**
 * @param calls that failed
 * @param actedAt when one was last answered, as far as the process knows
 */
export function unansweredAfter(
  before: Unanswered | undefined,
  calls: readonly FailedCall[],
  actedAt: number | undefined,
): Unanswered | undefined {
  const acting = calls.filter(({ mode }) => mode !== 'probe');
  const kept = isAnswered(before, actedAt) ? undefined : before;
  if (acting.length === 0) return kept;
  const since = kept?.since ?? Math.min(...acting.map(({ at }) => at));
  return { since, calls: (kept?.calls ?? 0) + acting.length };
}

/** True if the service has answered a call since then. */
export const isAnswered = (before: Unanswered | undefined, actedAt: number | undefined): boolean =>
  before !== undefined && actedAt !== undefined && actedAt >= before.since;

/** The unanswered calls that an operator must know about. @param failedAt when a call failed last */
export const unansweredNow = (
  { unanswered, failedAt }: { readonly unanswered?: Unanswered; readonly failedAt: number },
  now: number,
): Unanswered | undefined =>
  unanswered !== undefined &&
  unanswered.calls >= FEWEST &&
  now - unanswered.since >= SHORTEST_MS &&
  now - failedAt < LONGEST_SILENCE_MS
    ? unanswered
    : undefined;
