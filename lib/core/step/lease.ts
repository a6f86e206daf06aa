/**
 * The lease of an attempt: how long it lasts, what renews it, and when it is over.
 *
 * Owns: a heartbeat's write, the end of an attempt that does not advance, the margins and the grace of a
 * lease, and the horizon H that follows from the leases of a plan. Does not own: the claim that begins a
 * lease (`execution/on-message.ts`), what becomes of a step whose lease has ended (`step/report.ts`).
 *
 * S4 one holder at a time: a heartbeat counts only under the current token. S12 the horizon is the smallest
 * lease or pickup time among the unfinished steps: a step write that a reader did not see creates a deadline
 * no earlier than its own time + H.
 */

import { type AgentStep, agentStep, agentSteps, type Plan, type StepLimits } from '../plan/plan.ts';
import { type DecisionInputs, stepAfter } from '../decisions/change.ts';
import type { EventOf } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { type LeasedStep, isLeased, type Step } from '../records/state.ts';
import { type Away, awayMs } from '../values/away.ts';
import { attemptedVariant } from './recovery.ts';

/** When the lease ends even of an attempt that is alive, unless it makes progress before. */
export const stalledAt = (step: AgentStep, record: LeasedStep, progressAt: number): number =>
  step.maxNoProgressMs === undefined || record.mode !== 'execute'
    ? Number.POSITIVE_INFINITY
    : progressAt + step.maxNoProgressMs;

const HEARTBEATS_PER_LEASE = 3;
/** How often a living attempt renews its lease. */
export const heartbeatEveryMs = (step: StepLimits): number =>
  Math.floor(leaseSpanMs(step) / HEARTBEATS_PER_LEASE);
/**
 * The time between the last heartbeat and the end of a lease: one heartbeat, and half a one for a store that
 * answers slowly.
 */
const HEARTBEATS_OF_SILENCE = 1.5;

/**
 * Whether the lease ended because there was no progress: it was cut short for that reason, and the attempt
 * sent heartbeats until its end. The time of the notice proves nothing: a process that notices late finds
 * every attempt beyond its time without progress, even a dead one.
 */
export const endedByStall = (step: AgentStep, record: LeasedStep): boolean =>
  record.leaseUntil >= stalledAt(step, record, record.progressAt ?? record.claimedAt ?? 0) &&
  record.leaseUntil - (record.heartbeatAt ?? record.claimedAt ?? 0) <=
    HEARTBEATS_OF_SILENCE * heartbeatEveryMs(step);

/** Whether a token is progress after another: any different text, but only a larger number. */
export const isAdvance = (before: Step['progress'], token: string | number): boolean =>
  typeof before === 'number' && typeof token === 'number' ? token > before : token !== before;

/**
 * The record of a heartbeat, or nothing if the token is no longer the current one, the attempt's time is
 * over, or it stalls.
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
 * Allowance for clocks that differ and for a heartbeat that is under way. A lease is over this long after its
 * end.
 */
export const LEASE_MARGIN_MS = 1_000;

/** The horizon of a plan without agents; every write there brings the wake time forward. */
const IDLE_HORIZON_MS = 60_000;

const FINISHED: ReadonlySet<Step['status']> = new Set([
  'done',
  'skipped',
  'tolerated',
  'fenced',
  'compensated',
  'compensation-failed',
]);

/** The smallest lease or pickup time among the unfinished steps; of all steps when none is left. */
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

/** The longest possible horizon of the plan, as long as an agent's step is unfinished. */
export const longestHorizonMs = (plan: Plan): number => Math.max(0, ...agentSteps(plan).map(shortestMs));

/** Covers every stage on which the step may be claimed next. While it is unfinished, no horizon is longer. */
export function shortestMs(step: AgentStep): number {
  let ms = Math.min(leaseSpanMs(step), step.pickupMs);
  for (const stage of step.recovery)
    if (stage.kind === 'useAgent') ms = Math.min(ms, leaseSpanMs(stage), stage.pickupMs);
  return ms;
}

/** The longest a lease may last from now on: not longer than the attempt may go without progress. */
export const leaseSpanMs = (step: StepLimits): number =>
  Math.min(step.leaseMs, step.maxNoProgressMs ?? step.leaseMs);

export const leaseEndsAt = (leaseUntil: number): number => leaseUntil + LEASE_MARGIN_MS;

/** An attempt may take this long to stop and report after its time is over. */
export const REPORT_GRACE_MS = 5_000;

/** A process that is certainly dead renews nothing, and neither does an attempt whose time is over. */
function renewableUntil({ timeoutMs }: StepLimits, record: LeasedStep, away?: readonly Away[]): number {
  const { claimedAt = 0, mode, processDeadlineAt } = record;
  const overAt = claimedAt + timeoutMs + REPORT_GRACE_MS;
  return (mode === 'probe' ? overAt : Math.min(overAt, processDeadlineAt)) + awayMs(away, claimedAt);
}

/**
 * When the lease is over: a lease that could not be renewed because the store was away gets its length once
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
  // Its next heartbeat counts from what was left before a clock was set forward, not from what is left now.
  const isCut = awayMs(away, step.leaseUntil - variant.leaseMs) > 0;
  if (step.leaseUntil >= graceFrom && !isCut) return endsAt;
  const graceUntil = Math.min(graceFrom + variant.leaseMs, renewableUntil(variant, step, away));
  return Math.max(endsAt, leaseEndsAt(graceUntil));
}

const ADOPTS: ReadonlySet<Step['status']> = new Set(['accepted', 'unknown', 'retrying', 'waiting']);

/**
 * Nothing else has started since the lease of the last attempt ended: its late success counts.
 * @param mayFail a failed step's late success counts, too, as long as the failure is neither tolerated nor
 * being undone (S20)
 */
export const adoptsLateSuccess = ({ status }: Pick<Step, 'status'>, mayFail: boolean): boolean =>
  ADOPTS.has(status) || (status === 'failed' && mayFail);
