/**
 * Decides what follows from an agent's report about one attempt: a message came (its step is claimed now,
 * waits, is deferred, or is already past the message), the attempt is alive, it has ended, or its process is
 * dead.
 *
 * Owns: the answers to `deliver`, `heartbeat`, `report` and `process-died`; the changes that a claim makes to
 * the step, in the modes execute, probe and undo; when the read after a report is not needed. Does not own:
 * which work there is (`step/ready.ts`), the lease (`step/lease.ts`), the record of an end
 * (`step/report.ts`), what comes next (`rules.ts`).
 *
 * S2 only the message's own work is claimed, on the version that was read. S3 a fresh token per claim; a
 * report counts only under its own token, or as a late success. S4 one holder at a time. S9 only a claim
 * counts an attempt. S18 the claim records its effect key, with the agent and the input that belong to the
 * key. C1 a healthy step is decided without a second read. S12 deferred work may have a far wake time. In the
 * same transaction it is brought forward by: a claim or another deferral of that work; a claim whose lease
 * ends with its process, possibly before the wake time; a late success; and a death that is recorded late.
 */

import {
  blankStep,
  type DecisionInputs,
  executionAfter,
  stepAfter,
  type StepChanges,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from '../decisions/decision.ts';
import type { EventOf } from '../decisions/events.ts';
import { resolvedBySuccess } from '../operators/incidents.ts';
import {
  agentStep,
  type AgentStep,
  dependentsOf,
  endsByParty,
  graphOf,
  type Plan,
  type PlanStep,
} from '../plan/plan.ts';
import { isPersonAsked, needsPerson, type Snapshot } from '../records/snapshot.ts';
import { isForward, isLeased, isSatisfied, isTerminal, type NotBefore, type Step } from '../records/state.ts';
import { deferral, hasNoDeadline, isOpenToLateMessages } from '../step/defer.ts';
import { keyOfClaim } from '../step/effect-key.ts';
import { effectOf } from '../step/effect.ts';
import { afterHeartbeat, leaseEndsAt, leaseSpanMs, shortestMs } from '../step/lease.ts';
import { settlesAt, withProcess } from '../step/process-deadline.ts';
import { openWork, type Work, workKey } from '../step/ready.ts';
import { attemptedVariant, isLeaving } from '../step/recovery.ts';
import { afterDeath, reported } from '../step/report.ts';
import { mayStillSucceed } from '../step/turn.ts';
import { isTimeOver, timeOverAt } from '../step/within.ts';
import { defined } from '../values/defined.ts';
import type { Failure } from '../values/failure.ts';

/**
 * The agent waits if a message is early by at most this. It drops a message that comes even earlier; a
 * supervisor sends another one at the wake time.
 */
const EARLY_MS = 5_000;
/** If the wake time is this near, a supervisor may evaluate before the present decision is written. */
const SOON_MS = 10_000;
/** An attempt is started only if it has this much time left; with less it could not even report. */
const MIN_REMAINING_MS = 2_000;
/** A kept message's attempt needs this time, in addition to its own limit, for its abort and its report. */
const KEPT_SPARE_MS = 3_500;

export function deliver(plan: Plan, state: Snapshot, event: EventOf<'deliver'>): Decision {
  const { message } = event;
  const record = Object.hasOwn(state.steps, message.step) ? state.steps[message.step] : undefined;
  const { execution } = state;
  const about = { step: message.step, attempt: message.attempt };
  const dropped = (detail: string): Decision =>
    nothing(IDLE, { what: 'message-dropped', executionId: execution.id, ...about, detail });
  const planStep = graphOf(plan).step.get(message.step);
  if (planStep === undefined) return dropped('no such step');
  if (message.seq > (record?.version ?? 0)) return dropped('from after a restore');
  const work = openWork(plan, state).find(
    (piece) =>
      piece.step.agent === event.agent &&
      piece.step.name === message.step &&
      piece.mode === message.mode &&
      piece.attempt === message.attempt,
  );
  if (work === undefined) {
    if (isLeased(record)) return dropped('leased');
    // The step is past this message. Its sender may have died before sending the next messages, so evaluate.
    return nothing(evaluateNext([message.step], false));
  }
  // Each probe of accepted work has its own message, so a repeated one begins no second chain of probes.
  if (record?.status === 'accepted' && message.seq < (record.accepted?.seq ?? 0))
    return dropped('of an earlier probe');
  const isLate =
    work.dueAt > event.now && isOpenToLateMessages(work) && isSettled(planStep, work, record, event.now);
  if (work.dueAt > event.now && !isLate) {
    const isSoon = work.dueAt - event.now <= EARLY_MS;
    return isSoon ? nothing({ kind: 'wait', untilAt: work.dueAt }) : dropped('early');
  }
  // The step begins no new work: the evaluation ends it.
  if (work.mode === 'execute' && isTimeOver(planStep, state, event.now))
    return nothing(evaluateNext([message.step], false));
  if (event.processDeadlineAt - event.now < neededMs(work, event.isKept))
    return nothing({ kind: 'give-back' });
  if (event.notBefore !== undefined) return deferDelivered(state, work, event.notBefore, event);
  const step = claimed(work, state, event);
  // The claim brings the wake time forward: a deferred step's may be far off, and so may that of a step whose
  // process ends before its lease. The claim cannot know how far others have put it off, because it read
  // a long execution only in part or before other steps were finished; but no write puts it off farther than
  // its own step's H.
  const leaseEndAt = leaseEndsAt(step.leaseUntil ?? event.processDeadlineAt);
  const isCutShort = leaseEndAt < event.now + shortestMs(work.step);
  const nearer =
    isLate || isCutShort
      ? executionAfter(execution, 'set-wake-time', event, { wakeAt: leaseEndAt })
      : undefined;
  return writing(
    execution.id,
    { step, execution: nearer },
    { kind: 'perform', step },
    { what: 'claimed', ...about, detail: message.mode, ms: event.now - work.dueAt },
  );
}

/**
 * Returns the time that the process must have left. For a message from a queue it is short: the attempt gets
 * the time that its process has. A kept message needs the time for a whole attempt and a whole lease, because
 * another process could give it both. The step's own plan says how long that is, because its agent may have
 * had a longer limit then.
 */
const neededMs = ({ step }: Work, isKept: true | undefined): number =>
  isKept === true ? Math.max(step.timeoutMs + KEPT_SPARE_MS, shortestMs(step)) : MIN_REMAINING_MS;

/**
 * True if a late message may override a deferral. For an undo or a next stage it may not before the time
 * until which an attempt may act (S10).
 */
function isSettled(step: PlanStep, { mode, sinceAt }: Work, record: Step | undefined, now: number): boolean {
  const isNextStage = mode === 'execute' && step.kind === 'agent' && record && isLeaving(step, record);
  if (mode !== 'undo' && isNextStage !== true) return true;
  return sinceAt <= now && effectOf(step, record).attemptsUntil <= now;
}

/**
 * Defers the work and acknowledges the message: a supervisor sends another one when the service may be called
 * again.
 */
function deferDelivered(state: Snapshot, work: Work, until: NotBefore, event: DecisionInputs): Decision {
  const { step, retryAt, note } = deferral(work, state, until, event, true);
  const { execution } = state;
  const { wakeAt } = execution;
  // Work that was deferred as unclaimed may have a far wake time. If supervisors have sent the work, or one
  // may be sending it now, their write sets a wake time a gap later. So this write includes the execution,
  // and one of the two conflicts.
  const isSent = (at: number): boolean =>
    execution.dispatches[workKey(work)] !== undefined || at <= event.now + SOON_MS;
  const nearer =
    wakeAt !== undefined && (isSent(wakeAt) || wakeAt > retryAt)
      ? executionAfter(execution, 'set-wake-time', event, { wakeAt: Math.min(wakeAt, retryAt) })
      : undefined;
  return { ...writing(execution.id, { step, execution: nearer }, IDLE, note), wakeTime: 'as-written' };
}

const CLAIM_EVENT = { execute: 'claim', probe: 'probe', undo: 'start-undo' } as const;

/**
 * The record of a claim. The lease counts from `event.now`, which is before the write.
 * @param processDeadlineAt when this attempt's process is certainly dead
 */
export function claimed(
  work: Work,
  { execution, steps }: Snapshot,
  event: Pick<EventOf<'deliver'>, 'token' | 'processDeadlineAt'> & DecisionInputs,
): Step {
  const before = steps[work.step.name] ?? blankStep(work.step.name, execution);
  const { token, processDeadlineAt, now } = event;
  const leaseMs = work.mode === 'execute' ? leaseSpanMs(work.step) : work.step.leaseMs;
  return stepAfter(before, CLAIM_EVENT[work.mode], event, {
    epoch: execution.epoch,
    token,
    mode: work.mode,
    claimedAt: now,
    leaseUntil: Math.min(now + leaseMs, processDeadlineAt),
    progress: undefined,
    progressAt: undefined,
    heartbeatAt: undefined,
    heartbeat: 0,
    retryAt: undefined,
    // Last, because V8 is slow to add fields to an object that was spread from several shapes. A probe only
    // asks, so no work waits for its process to be dead.
    ...(work.mode === 'probe' ? {} : withProcess(before, token, processDeadlineAt, now)),
    ...actedTokenOf(work, before),
    ...countsOf(work, before),
  });
}

/** Keeps, in a probe's claim, the token of the attempt that the probe asks about. */
function actedTokenOf({ mode }: Work, before: Step): StepChanges {
  if (mode !== 'probe') return before.actedToken === undefined ? {} : { actedToken: undefined };
  return before.mode === 'execute' ? { actedToken: before.token } : {};
}

/** The further changes of each mode. */
function countsOf({ mode, attempt, step }: Work, before: Step): StepChanges {
  if (mode === 'probe') return {};
  if (mode === 'undo') return { undoAttempt: attempt, keySpent: true };
  return {
    attempt,
    stageAttempt: before.stageAttempt + 1,
    restarted: undefined,
    isOverTime: undefined,
    nextStage: undefined,
    ...keyOfClaim(step, before),
  };
}

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
  // A person need not answer a question that the work has answered.
  const question = resolvedBySuccess(state, event.step, event);
  const adopted = executionAfter(execution, 'adopt', event, {});
  const note = { what: 'adopted', ...about, ms };
  return writing(execution.id, { step, execution: adopted, question }, evaluateNext([event.step]), note);
}

/**
 * Records that the attempt's process is dead. Under the lease this ends the attempt; later it only changes a
 * time, without a lease.
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
  const dueAt = settlesAt(attemptedVariant(planStep, step), step);
  const nearer = executionAfter(execution, 'adopt', event, { wakeAt: dueAt });
  return writing(execution.id, { step, execution: nearer }, next, about);
}

/** The end of the step's time or of the execution's; a deadline that has passed has no effect. */
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
 * True if the second read after an on-time `done` is not needed (C1), because the claim's snapshot is enough:
 * to send to dependents that wait only for this step and have no condition, or to end the execution if all
 * else was already finished.
 */
function mayDecideUnread(plan: Plan, state: Snapshot, step: Step): boolean {
  const { status } = state.execution;
  // While only approvals are open, no answer of a person concerns this step.
  const isApproved = isForward(status) && isPersonAsked(state) && !needsPerson(state);
  const isPlain = status === 'running' || isApproved;
  if (step.status !== 'done' || !isPlain) return false;
  const dependents = dependentsOf(plan, step.name);
  if (dependents.length > 0) {
    // A dependent callback may have been answered since the claim's read, and a message may have come.
    return dependents.every(
      (other) => other.after.length === 1 && other.when === undefined && !endsByParty(other),
    );
  }
  return plan.steps.every(({ name }) => name === step.name || isSatisfied(state.steps[name]));
}
