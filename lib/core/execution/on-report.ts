/**
 * Decides what follows from an attempt's report (its outcome, or that it is alive), or from the report that
 * its process is dead.
 *
 * Owns: the answers to `heartbeat`, `report` and `process-died`, and when the read after a report is not
 * needed. Does not own: the step's record (`step/report.ts`), what comes next (`rules.ts`).
 *
 * S3 a report counts only under its own token, or as a late success. C1 a healthy step is decided without a
 * second read. S12 no lease covers a late success: it brings the wake time forward in the same transaction,
 * and so does a death that is recorded late.
 */

import { resolvedBySuccess } from '../operators/incidents.ts';
import { type AgentStep, agentStep, dependentsOf, endsByParty, type Plan } from '../plan/plan.ts';
import { executionAfter } from '../decisions/change.ts';
import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import { type Decision, evaluateNext, nothing, IDLE, writing } from '../decisions/decision.ts';
import type { EventOf } from '../decisions/events.ts';
import { isPersonAsked, needsPerson, type Snapshot } from '../records/snapshot.ts';
import { isForward, isLeased, isSatisfied, isTerminal, type Step } from '../records/state.ts';
import { hasNoDeadline } from '../step/defer.ts';
import { afterHeartbeat } from '../step/lease.ts';
import { attemptedVariant } from '../step/recovery.ts';
import { afterDeath, reported } from '../step/report.ts';
import { mayStillSucceed } from '../step/turn.ts';
import { isTimeOver, timeOverAt } from '../step/within.ts';

export function heartbeat(plan: Plan, state: Snapshot, event: EventOf<'heartbeat'>): Decision {
  const planStep = agentStep(plan, event.step);
  const record = state.steps[event.step];
  const step = planStep && afterHeartbeat(attemptedVariant(planStep, record), record, event);
  return step === undefined ? nothing() : writing(state.execution.id, { step }, IDLE);
}

export function report(plan: Plan, state: Snapshot, event: EventOf<'report'>): Decision {
  const planStep = agentStep(plan, event.step);
  const before = state.steps[event.step];
  const { execution } = state;
  const about = { step: event.step, attempt: before?.attempt ?? 0 };
  const step =
    planStep === undefined || isTerminal(execution.status)
      ? undefined
      : reported(planStep, before, {
          ...event,
          mayFail: mayStillSucceed(plan, planStep, state),
          isOverTime: isTimeOver(planStep, state, event.now),
          isOnFailure: plan.onFailureOf !== undefined,
          ...(before?.mode === undefined ? {} : { unbounded: hasNoDeadline(before.mode, execution) }),
          ...(isForward(execution.status) ? { overAt: overAt(planStep, state, event.now) } : {}),
        });
  if (step === undefined)
    return nothing(IDLE, { what: 'report-refused', executionId: execution.id, ...about });
  const ms = recoveredIn(before, step, event.now);
  if (isLeased(before)) {
    const fresh = !(event.onTime && mayDecideUnread(plan, state, step));
    const note = {
      what: `step-${step.status}`,
      ...about,
      ...defined({ ms, failure: failureOfLatest(step) }),
    };
    return writing(execution.id, { step }, evaluateNext([event.step], fresh), note);
  }
  // Nor does a person have to answer a question that the work has answered.
  const question = resolvedBySuccess(state, event.step, event);
  const adopted = executionAfter(execution, 'adopt', event, {});
  const note = { what: 'adopted', ...about, ms };
  return writing(execution.id, { step, execution: adopted, question }, evaluateNext([event.step]), note);
}

/**
 * Under the lease, a death is the end of the attempt; later it only changes a time, which no lease covers.
 */
export function processDied(plan: Plan, state: Snapshot, event: EventOf<'process-died'>): Decision {
  const planStep = agentStep(plan, event.step);
  const before = state.steps[event.step];
  const { execution } = state;
  if (planStep === undefined || before === undefined || isTerminal(execution.status)) return nothing();
  const isOverTime = isTimeOver(planStep, state, event.now);
  const step = afterDeath(planStep, before, { ...event, isOverTime });
  if (step === undefined) return nothing();
  const about = {
    what: event.returned === true ? 'attempt-over' : 'process-died',
    step: event.step,
    attempt: before.attempt,
    ...defined({ failure: before.leaseUntil === undefined ? undefined : failureOfLatest(step) }),
  };
  const next = evaluateNext([event.step]);
  if (before.leaseUntil !== undefined && step.leaseUntil === undefined)
    return writing(execution.id, { step }, next, { ...about, detail: before.mode });
  const dueAt = step.processDeadlineAt + attemptedVariant(planStep, step).settleMs;
  const nearer = executionAfter(execution, 'adopt', event, { wakeAt: dueAt });
  return writing(execution.id, { step, execution: nearer }, next, about);
}

/** The end of the step's time or of the execution's; a deadline that has passed no longer ends anything. */
const overAt = (step: AgentStep, state: Snapshot, now: number): number =>
  Math.min(
    timeOverAt(step, state),
    state.execution.deadlineAt > now ? state.execution.deadlineAt : Number.POSITIVE_INFINITY,
  );

const failureOfLatest = ({ attempts }: Step): Failure | undefined => attempts.at(-1)?.failure;

/** How long a step that is now done took from its first failed try. */
function recoveredIn(before: Step | undefined, step: Step, now: number): number | undefined {
  const first = before?.attempts.find((attempt) => attempt.outcome !== 'done');
  return step.status !== 'done' || first === undefined ? undefined : now - first.endedAt;
}

/**
 * After an on-time `done` the second read is not needed (C1) if the claim's snapshot is enough: to send to
 * dependents that wait only for this step and have no condition, or to end the execution if everything else
 * was already finished.
 */
function mayDecideUnread(plan: Plan, state: Snapshot, step: Step): boolean {
  const { status } = state.execution;
  // If only an approval is open, no answer of a person concerns this step.
  const isApproved = isForward(status) && isPersonAsked(state) && !needsPerson(state);
  const isPlain = status === 'running' || isApproved;
  if (step.status !== 'done' || !isPlain) return false;
  const dependents = dependentsOf(plan, step.name);
  if (dependents.length > 0) {
    // A callback may have been answered since, and a message may have come.
    return dependents.every(
      (other) => other.after.length === 1 && other.when === undefined && !endsByParty(other),
    );
  }
  return plan.steps.every(({ name }) => name === step.name || isSatisfied(state.steps[name]));
}
