/**
 * Computes the time limits of a run from its plan.
 *
 * Owns: the two limits of a run and their derivation. Pure.
 */

import { onFailureSteps } from '../../lib/core/plan/on-failure.ts';
import { type AgentStep, agentSteps, type Plan } from '../../lib/core/plan/plan.ts';
import { LEASE_MARGIN_MS } from '../../lib/core/step/lease.ts';
import { SWEEP_EVERY_MS } from '../../lib/supervisor/sweep.ts';

const TICK_MS = 60_000;
/** A function's time beyond its agent's timeout (`infra/deployed-agent.ts`). */
const FUNCTION_SPARE_MS = 15_000;
/**
 * The longest gap before a message is sent again, in multiples of the smallest lease or pickup time
 * (`core/supervision/wake-time.ts`).
 */
const MAX_GAP = 4;
/** The promised time to detect a dead agent, beyond its lease. */
const DETECTION_SPARE_MS = 10_000;

const stepsOf = (plan: Plan): number => plan.steps.length + onFailureSteps(plan).length;
const performed = (plan: Plan): readonly AgentStep[] => [...agentSteps(plan), ...onFailureSteps(plan)];
const most = (plan: Plan, of: (step: AgentStep) => number): number => Math.max(...performed(plan).map(of));

export const detectionLimitMs = (plan: Plan): number => longestLeaseMs(plan) + DETECTION_SPARE_MS;

export const longestLeaseMs = (plan: Plan): number => most(plan, ({ leaseMs }) => leaseMs);

/**
 * The time from the end of all faults to the end of the last execution. It is the sum of: a tick, if the
 * supervisor was just killed; the end of a lease and its sweep; the time until the attempt's process is
 * certainly dead and its requests have taken effect, because its probe or undo waits for that; and each step
 * once more, forward, back or after a failure, with the longest gap between two dispatches before it. Every
 * attempt succeeds now, so no recovery goes further; an attempt that hung when the faults ended takes its
 * timeout, which is shorter than its process's life.
 * @param steps the number of consecutive steps. @default all of the plan's
 */
export function healBoundMs(plan: Plan, steps = stepsOf(plan)): number {
  const shortest = Math.min(...performed(plan).map(({ leaseMs, pickupMs }) => Math.min(leaseMs, pickupMs)));
  const processDeadlineMs = most(plan, ({ timeoutMs, settleMs }) => timeoutMs + FUNCTION_SPARE_MS + settleMs);
  const noticedMs = TICK_MS + longestLeaseMs(plan) + LEASE_MARGIN_MS + SWEEP_EVERY_MS;
  return noticedMs + processDeadlineMs + steps * (MAX_GAP * shortest + SWEEP_EVERY_MS);
}
