/**
 * The lease of an attempt: how long it lasts, what renews it, and when it is over.
 *
 * Owns: a heartbeat's write, ending an attempt that does not advance, the margins and the grace of a lease,
 * and the horizon H derived from the leases of a plan. Does not own: the claim that begins a lease
 * (`execution/on-message.ts`), the step after its lease has ended (`step/report.ts`).
 *
 * S4 one holder at a time: a heartbeat counts only with the current token. S12 the horizon H is the smallest
 * lease or pickup time among the unfinished steps. A write of a step that a reader did not see thus creates
 * no deadline earlier than H after that write.
 */

import { type AgentStep, agentStep, agentSteps, type Plan, type StepLimits } from '../plan/plan.ts';
import { type DecisionInputs, stepAfter } from '../decisions/change.ts';
import type { EventOf } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { type LeasedStep, isLeased, type Step } from '../records/state.ts';
import { type Away, awayMs } from '../values/away.ts';
import { attemptedVariant } from './recovery.ts';

/** When the lease of even a living attempt ends unless it makes progress before. */
export const stalledAt = (step: AgentStep, record: LeasedStep, progressAt: number): number =>
  step.maxNoProgressMs === undefined || record.mode !== 'execute'
    ? Number.POSITIVE_INFINITY
    : progressAt + step.maxNoProgressMs;

const HEARTBEATS_PER_LEASE = 3;
/** How often a living attempt renews its lease. */
export const heartbeatEveryMs = (step: StepLimits): number =>
  Math.floor(leaseSpanMs(step) / HEARTBEATS_PER_LEASE);
/**
 * How many intervals between heartbeats may pass without one before the lease ends: one for a lost heartbeat,
 * and half a one for a store that answers slowly.
 */
const HEARTBEATS_OF_SILENCE = 1.5;

/**
 * True if the lease ended for lack of progress: it was cut short because of that, and the attempt sent
 * heartbeats until its end. The present time does not count: if the check comes late, even a dead attempt has
 * gone too long without progress.
 */
export const endedByStall = (step: AgentStep, record: LeasedStep): boolean =>
  record.leaseUntil >= stalledAt(step, record, record.progressAt ?? record.claimedAt ?? 0) &&
  record.leaseUntil - (record.heartbeatAt ?? record.claimedAt ?? 0) <=
    HEARTBEATS_OF_SILENCE * heartbeatEveryMs(step);

/** True if a token is progress after another: any different text, but only a larger number. */
export const isAdvance = (before: Step['progress'], token: string | number): boolean =>
  typeof before === 'number' && typeof token === 'number' ? token > before : token !== before;

/**
 * The record after a heartbeat; undefined if the token is outdated, the attempt's time is over, or it stalls.
 */
export function afterHeartbeat(
  step: AgentStep,
  record: Step | undefined,
  event: Pick<EventOf<'heartbeat'>, 'token' | 'progress' | 'away'> & DecisionInputs,
): Step | undefined {
  const { token, progress, now, away } = event;
  if (!isLeased(record) || record.token !== token) return undefined;
  const advanced = progress !== undefined && isAdvance(record.progress, progress.token);
  const progressAt = advanced ? progress.at : (record.progressAt ?? record.claimedAt ?? 0);
  const leaseUntil = Math.min(
    now + step.leaseMs,
    renewableUntil(step, record, away),
    stalledAt(step, record, progressAt) + awayMs(away, progressAt),
  );
  if (leaseUntil <= now) return undefined;
  return stepAfter(record, 'heartbeat', event, {
    leaseUntil: Math.max(leaseUntil, record.leaseUntil),
    heartbeat: record.heartbeat + 1,
    heartbeatAt: now,
    ...(advanced ? { progress: progress.token, progressAt } : {}),
  });
}

/**
 * How long after its end a lease is over: an allowance for clocks that differ and for a heartbeat under way.
 */
export const LEASE_MARGIN_MS = 1_000;

/** The horizon of a plan without agents, where every write brings the wake time forward. */
const IDLE_HORIZON_MS = 60_000;

const FINISHED: ReadonlySet<Step['status']> = new Set([
  'done',
  'skipped',
  'tolerated',
  'fenced',
  'compensated',
  'compensation-failed',
]);

/** The smallest lease or pickup time among the unfinished steps; among all if none is left. */
export function horizonMs(plan: Plan, snapshot: Snapshot | undefined): number {
  const compensating = snapshot?.execution.status === 'compensating';
  const all = agentSteps(plan);
  const open = all.filter((step) => {
    const record = snapshot?.steps[step.name];
    if (record === undefined || record.nextStage !== undefined) return true;
    return (compensating && record.status === 'done') || !FINISHED.has(record.status);
  });
  const steps = open.length > 0 ? open : all;
  return steps.length > 0 ? Math.min(...steps.map(shortestMs)) : IDLE_HORIZON_MS;
}

/** The longest possible horizon of the plan while an agent's step is unfinished. */
export const longestHorizonMs = (plan: Plan): number => Math.max(0, ...agentSteps(plan).map(shortestMs));

/**
 * The shortest time over all stages on which the step may be claimed next: the longest horizon while it is
 * unfinished.
 */
export function shortestMs(step: AgentStep): number {
  let ms = Math.min(leaseSpanMs(step), step.pickupMs);
  for (const stage of step.recovery)
    if (stage.kind === 'useAgent') ms = Math.min(ms, leaseSpanMs(stage), stage.pickupMs);
  return ms;
}

/** The longest a lease may last: no longer than the attempt may go without progress. */
export const leaseSpanMs = (step: StepLimits): number =>
  Math.min(step.leaseMs, step.maxNoProgressMs ?? step.leaseMs);

export const leaseEndsAt = (leaseUntil: number): number => leaseUntil + LEASE_MARGIN_MS;

/** How long an attempt may take to stop and report after its time is over. */
export const REPORT_GRACE_MS = 5_000;

/** Until when heartbeats can renew: not after the process is certainly dead or the attempt's time is over. */
function renewableUntil({ timeoutMs }: StepLimits, record: LeasedStep, away?: readonly Away[]): number {
  const { claimedAt = 0, mode, processDeadlineAt } = record;
  const overAt = claimedAt + timeoutMs + REPORT_GRACE_MS;
  return (mode === 'probe' ? overAt : Math.min(overAt, processDeadlineAt)) + awayMs(away, claimedAt);
}

/**
 * When the lease is over. If it could not be renewed because the store was away, it gets its length once
 * more.
 */
export function leaseOverAt(
  plan: Plan,
  step: LeasedStep,
  graceFrom: number | undefined,
  away?: readonly Away[],
): number {
  const endsAt = leaseEndsAt(step.leaseUntil);
  const planned = agentStep(plan, step.name);
  if (graceFrom === undefined || planned === undefined) return endsAt;
  const variant = attemptedVariant(planned, step);
  // True if a clock was set forward during the lease: then it gets its length from before that.
  const isCut = awayMs(away, step.leaseUntil - variant.leaseMs) > 0;
  if (step.leaseUntil >= graceFrom && !isCut) return endsAt;
  const graceUntil = Math.min(graceFrom + variant.leaseMs, renewableUntil(variant, step, away));
  return Math.max(endsAt, leaseEndsAt(graceUntil));
}

const ADOPTS: ReadonlySet<Step['status']> = new Set(['accepted', 'unknown', 'retrying', 'waiting']);

/**
 * True if the late success of the last attempt counts, because nothing else has started since its lease
 * ended.
 * @param mayFail true for a failed step while its failure is neither tolerated nor being undone: a late
 * success then counts, too (S20)
 */
export const adoptsLateSuccess = ({ status }: Pick<Step, 'status'>, mayFail: boolean): boolean =>
  ADOPTS.has(status) || (status === 'failed' && mayFail);
