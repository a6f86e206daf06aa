/**
 * Decides what becomes of a message that has come to an agent: its step is claimed now, waits, is deferred,
 * or is already past the message.
 *
 * Owns: the answer to a `deliver`. Does not own: which work there is (`step/ready.ts`), the record of a claim
 * (`step/claim.ts`).
 *
 * S2 only the message's own work is claimed, on the version that was read. S12 deferred work has a far wake
 * time: the process that claims it, or defers it again, brings the wake time forward in the same transaction;
 * so does a claim whose lease ends with its process, possibly before the wake time.
 */

import { graphOf, type Plan, type PlanStep } from '../plan/plan.ts';
import { executionAfter, type DecisionInputs } from '../decisions/change.ts';
import { type Decision, evaluateNext, nothing, IDLE, writing } from '../decisions/decision.ts';
import type { EventOf } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isLeased, type Step, type NotBefore } from '../records/state.ts';
import { claimed } from '../step/claim.ts';
import { deferral, isOpenToLateMessages } from '../step/defer.ts';
import { leaseEndsAt, shortestMs } from '../step/lease.ts';
import { effectOf } from '../step/effect.ts';
import { openWork, type Work, workKey } from '../step/ready.ts';
import { isLeaving } from '../step/recovery.ts';
import { isTimeOver } from '../step/within.ts';

/**
 * A message that is early by at most this waits in the agent; an earlier one is dropped, and the wake time
 * brings another.
 */
const EARLY_MS = 5_000;
/** If the wake time is this near, a supervisor may evaluate before the present decision is written. */
const SOON_MS = 10_000;
/** An attempt that could not even report is not worth starting. */
const MIN_REMAINING_MS = 2_000;
/** Beyond its own limit, a kept message's attempt needs this for its abort and its report. */
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
  // Nothing new of the step begins: the evaluation ends it.
  if (work.mode === 'execute' && isTimeOver(planStep, state, event.now))
    return nothing(evaluateNext([message.step], false));
  if (event.processDeadlineAt - event.now < neededMs(work, event.isKept))
    return nothing({ kind: 'give-back' });
  if (event.notBefore !== undefined) return deferDelivered(state, work, event.notBefore, event);
  const step = claimed(work, state, event);
  // A deferred step's wake time is far off, and so may be the wake time of a step whose lease ends early with
  // its process: the claim brings it forward. The claim cannot know how far others have put it off, because
  // it has read a long execution only in part or before other steps were finished; but never farther than its
  // own step's H.
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
 * The time that the process must have left. A received message gets no more than its process has. A kept one
 * has a whole attempt, and no lease that its process cuts short: another process would give it both. The
 * step's own plan says how long that is, because its agent may have had a longer limit then.
 */
const neededMs = ({ step }: Work, isKept: true | undefined): number =>
  isKept === true ? Math.max(step.timeoutMs + KEPT_SPARE_MS, shortestMs(step)) : MIN_REMAINING_MS;

/**
 * A late message overrides a deferral, but never the time until which an attempt may still act, for an undo
 * or for a next stage (S10).
 */
function isSettled(step: PlanStep, { mode, sinceAt }: Work, record: Step | undefined, now: number): boolean {
  const isNextStage = mode === 'execute' && step.kind === 'agent' && record && isLeaving(step, record);
  if (mode !== 'undo' && isNextStage !== true) return true;
  return sinceAt <= now && effectOf(step, record).attemptsUntil <= now;
}

/** The message is acknowledged: a supervisor sends another one when the service may be called again. */
function deferDelivered(state: Snapshot, work: Work, until: NotBefore, event: DecisionInputs): Decision {
  const { step, retryAt, note } = deferral(work, state, until, event, true);
  const { execution } = state;
  const { wakeAt } = execution;
  // Work deferred as unclaimed has a far wake time, perhaps after this time. If supervisors have sent the
  // work, or one may, it sets the wake time a gap after that: one of the writes conflicts.
  const isSent = (at: number): boolean =>
    execution.dispatches[workKey(work)] !== undefined || at <= event.now + SOON_MS;
  const nearer =
    wakeAt !== undefined && (isSent(wakeAt) || wakeAt > retryAt)
      ? executionAfter(execution, 'set-wake-time', event, { wakeAt: Math.min(wakeAt, retryAt) })
      : undefined;
  return { ...writing(execution.id, { step, execution: nearer }, IDLE, note), wakeTime: 'as-written' };
}
