/**
 * Decides by an open execution's record and the clock if it is at risk, and since when.
 *
 * Owns: the times. Does not own: writing `riskSince`, which depends on its steps
 * (`supervision/notice-risk.ts`), the uses (lists and counts).
 */

import type { ExecutionStatus } from '../moves.ts';
import { type Execution, isForward, isTerminal, type RiskReason } from './state.ts';

/** An execution overdue for this long is at risk: no supervisor has evaluated it. */
export const OVERDUE_RISK_MS = 60_000;
/** The share of its time after which an execution is at risk of being late. */
const RISKY_PART = 0.75;

/** Reasons for which an execution waits for an agent. */
const WAITS_FOR: ReadonlySet<RiskReason['why'] | undefined> = new Set([
  'breaker',
  'paused',
  'unclaimed',
  'not-deployed',
  'cannot-tell',
]);

/** The agents that the execution waits for. */
export const agentsWaitedFor = ({ why, agent, agents = [] }: RiskReason): readonly string[] =>
  agent !== undefined && WAITS_FOR.has(why) ? [agent, ...agents] : agents;

/** True if the execution is at risk because it has been overdue for so long, independent of its record. */
export const isOverdue = ({ wakeAt }: Pick<Execution, 'wakeAt'>, now: number): boolean =>
  wakeAt !== undefined && wakeAt + OVERDUE_RISK_MS <= now;

/** The fields of an open execution that the index has. */
export interface Risk {
  readonly status: ExecutionStatus;
  readonly wakeAt?: number;
  readonly riskSince?: number;
  /** When three quarters of its time are over. */
  readonly riskAt: number;
}

/**
 * When three quarters of the execution's time are over. A retry, or a place in a lane, gives it its whole
 * time again; pauses have extended the deadline.
 */
export function riskAt({ startedAt, retries, lane, deadlineAt }: Execution): number {
  const from = Math.max(startedAt, retries?.at(-1)?.at ?? 0, lane?.placedAt ?? 0);
  return Math.floor(from + RISKY_PART * (deadlineAt - from));
}

/**
 * True if three quarters of its time are over. During a pause time stands still, and during an undo it does
 * not matter.
 */
export const isLate = (execution: Execution, now: number): boolean =>
  isForward(execution.status) && now >= riskAt(execution);

/** Since when the execution is at risk; undefined if it is not. */
export function atRiskSince(risk: Risk, now: number): number | undefined {
  const { status, wakeAt, riskSince } = risk;
  if (isTerminal(status)) return undefined;
  const times = [
    riskSince,
    wakeAt === undefined ? undefined : wakeAt + OVERDUE_RISK_MS,
    // The same condition as in `isLate`.
    isForward(status) ? risk.riskAt : undefined,
  ].filter((at) => at !== undefined && at <= now);
  return times.length === 0 ? undefined : Math.min(...(times as number[]));
}

/**
 * Since when and why the execution is at risk; empty if it is not. A reason in its record precedes one that
 * only the clock shows.
 */
export function riskNow(
  execution: Execution,
  now: number,
): { readonly riskSince?: number; readonly risk?: RiskReason } {
  const since = atRiskSince(riskOf(execution), now);
  if (since === undefined) return {};
  const { risk, riskSince, wakeAt = now } = execution;
  if (risk !== undefined) return { riskSince: since, risk };
  if (riskSince !== undefined) return { riskSince: since };
  return { riskSince: since, risk: { why: wakeAt + OVERDUE_RISK_MS <= now ? 'overdue' : 'late' } };
}

export const riskOf = (execution: Execution): Risk => ({ ...execution, riskAt: riskAt(execution) });
