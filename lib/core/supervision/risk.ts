/**
 * What puts an execution at risk, noticed in the writes that are made anyway.
 *
 * Owns: `riskSince`, also of one whose time is running out, so that whoever writes it tells of that once. Does not own: when that is,
 * and what is overdue (`records/risk.ts`), of which nobody writes. No decision reads it, and none writes for its sake: a healthy execution never has it, and one that is well again may keep it until its next write, which a
 * wake time brings at the latest.
 */

import type { Plan, PlanStep } from '../plan/plan.ts';
import type { Decision } from '../records/decision.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isLate } from '../records/risk.ts';
import { type Execution, isTerminal, type Step } from '../records/state.ts';

/** @param decision whose write of the execution's record, if it has one, says so too */
export function noticeRisk(plan: Plan, state: Snapshot, now: number, decision: Decision): Decision {
  const { write } = decision;
  if (write?.execution === undefined) return decision;
  const { riskSince, ...execution } = write.execution;
  const isAtRisk =
    !isTerminal(execution.status) &&
    (isLate(execution, now) || plan.steps.some((step) => isRisky(step, recordOf(step))));
  const since = isAtRisk ? (riskSince ?? now) : undefined;
  if (since === riskSince) return decision;
  const noticed: Execution = since === undefined ? execution : { ...execution, riskSince: since };
  return { ...decision, write: { ...write, execution: noticed } };

  function recordOf({ name }: PlanStep): Step | undefined {
    return write?.step?.name === name ? write.step : state.steps[name];
  }
}

const UNDER_WAY: ReadonlySet<Step['status']> = new Set([
  'running',
  'retrying',
  'waiting',
  'unknown',
  'probing',
  'suspended',
]);

/** It is deferred, also for want of its agent, or a probe could not tell, or nothing is left to try but what it is at. */
const isRisky = (step: PlanStep, record: Step | undefined): boolean =>
  record !== undefined &&
  (record.deferred !== undefined ||
    (UNDER_WAY.has(record.status) && (isProbedInVain(record) || isOnLastStage(step, record))));

const isProbedInVain = ({ status, probes }: Step): boolean =>
  (status === 'unknown' || status === 'probing') && probes > 0;

/** On the last of several stages that an agent is tried on, or at the last attempt of the only one. */
function isOnLastStage(step: PlanStep, { stage, stageAttempt }: Step): boolean {
  const recovery = step.kind === 'agent' || step.kind === 'child' ? (step.recovery ?? []) : [];
  const last = recovery.findLastIndex(({ kind }) => kind !== 'human') + 1;
  if (stage === 0 || stage < last) return false;
  const only = recovery[last - 1];
  return last > 1 || only === undefined || only.kind === 'human' || stageAttempt >= only.attempts;
}
