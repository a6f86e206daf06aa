/**
 * Why an execution makes no progress although nothing in it is wrong: the faults around it that an operator
 * must correct.
 *
 * Owns: when a supervisor is late, which steps wait for an agent that is not deployed, and this text. Does
 * not own: what happens next (`why.ts`), delays of the whole deployment (`GET /health`).
 */

import { planInStatus } from '../core/plan/on-failure.ts';
import type { Plan, PlanStep } from '../core/plan/plan.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { isTerminal, type Step } from '../core/records/state.ts';
import { effectOf } from '../core/step/effect.ts';
import type { Work } from '../core/step/ready.ts';
import { variantOf } from '../core/step/recovery.ts';
import { durationText, timeText } from '../core/values/text.ts';

/** Tells if an agent is deployed. */
export type IsDeployed = (agent: string) => boolean;

/**
 * When a supervisor counts as late. An idle supervisor runs once a minute (`EventBridge` rules have no
 * shorter rate) and may be slow to start.
 */
export const SUPERVISOR_LATE_MS = 70_000;

/**
 * Returns one sentence per fault; none if nothing is wrong or the execution has ended. @param now epoch ms
 */
export function warningsOf(
  plan: Plan,
  state: Snapshot,
  work: readonly Work[],
  now: number,
  isDeployed: IsDeployed,
): string[] {
  const missing = isTerminal(state.execution.status)
    ? []
    : planInStatus(plan, state.execution).steps.flatMap((step) => missingFor(step, state, work, isDeployed));
  return [...lateSupervisor(state, now), ...missing];
}

/** S12 The wake time is no later than any due work, so nothing is late until the wake time is. */
function lateSupervisor({ execution: { wakeAt } }: Snapshot, now: number): string[] {
  if (wakeAt === undefined || now - wakeAt <= SUPERVISOR_LATE_MS) return [];
  return [
    `the supervisor is late: it should have evaluated this at ${timeText(wakeAt)}, ${durationText(now - wakeAt)} ago; see GET /health, the alarms SupervisorSilent, OldestOverdue and EvaluationsFailing, and the supervisor's log for the id of this execution`,
  ];
}

function missingFor(
  step: PlanStep,
  state: Snapshot,
  work: readonly Work[],
  isDeployed: IsDeployed,
): string[] {
  const record = state.steps[step.name];
  const agent = agentOf(step, record);
  if (agent === undefined || isDeployed(agent)) return [];
  const isNow = work.some((piece) => piece.step.name === step.name);
  if (!isNow && !mayStillNeed(step, record, state)) return [];
  const needs = isNow ? 'needs it' : 'may need it yet';
  return [
    `no agent '${agent}' is deployed, and step '${step.name}' ${needs}: deploy it again; what waits for it goes on within a minute`,
  ];
}

function agentOf(step: PlanStep, record: Step | undefined): string | undefined {
  if (step.kind === 'agent') return variantOf(step, record?.stage ?? 0).agent;
  return step.kind === 'map' && step.each.kind === 'agent' ? step.each.agent : undefined;
}

const OVER: ReadonlySet<Step['status'] | undefined> = new Set([
  'done',
  'failed',
  'skipped',
  'tolerated',
  'fenced',
  'compensated',
]);

/** True if the step is still to be performed, or would have to be undone. */
const mayStillNeed = (step: PlanStep, record: Step | undefined, { execution }: Snapshot): boolean =>
  (execution.status !== 'compensating' && !OVER.has(record?.status)) || effectOf(step, record).isOwed;
