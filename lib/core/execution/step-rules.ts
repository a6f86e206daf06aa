/**
 * The rules of an evaluation for single steps: a lease that ended, a condition that is false, the fence, and
 * what follows a failed step once nothing of it is left to undo, or nothing is undone any more.
 *
 * Owns: when each is due; for a failed step its next stage, the one move that makes a tolerated failure
 * final, or the question that comes before it. Does not own: the outcome of an attempt whose lease ended
 * (`step/report.ts`), which steps there are, their undo (`step/ready.ts`), which steps may fail
 * (`plan/outcomes.ts`), when a failure becomes final (`step/tolerance.ts`).
 *
 * S20 a failure is tolerated in one recorded, final move: on a fresh read, when no attempt of the step can
 * act any longer and nothing must be undone: it did not act, it is compensated, or a person or the time for
 * an answer decided so. S18 at most one key of a step is in effect: the next stage begins once the undo has
 * succeeded. S10 if the execution is stopped meanwhile, this undo becomes the final one. Each of these writes
 * is one transaction with the execution, so that none comes after a pause, a stop or an end that its writer
 * did not see.
 */

import {
  blankStep,
  type DecisionInputs,
  stepAfter,
  type StepChanges,
  writingBoth,
  writingStep,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { StepEvent } from '../moves.ts';
import { agentStep, agentSteps, hasChildren, isCallback, type Plan, type PlanStep } from '../plan/plan.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isLeased, isPerforming, type Step } from '../records/state.ts';
import { effectOf, endsAsItIs } from '../step/effect.ts';
import { leaseOverAt } from '../step/lease.ts';
import { isLostFailure, leftOutIn } from '../step/left-out.ts';
import { givenUpAt } from '../step/process-deadline.ts';
import { stepToFence, stepToSkip } from '../step/ready.ts';
import { attemptedVariant } from '../step/recovery.ts';
import { leaseLost } from '../step/report.ts';
import type { Rule } from '../step/rule.ts';
import { toleratedAt, toleratedTimes, whyItFailed } from '../step/tolerance.ts';
import { firstTooMany, isTurn, isTurnToBegin, isUnbegun, mayFail } from '../step/turn.ts';
import { isTimeOver } from '../step/within.ts';
import { defined } from '../values/defined.ts';

export const endLease: Rule = {
  apply: (plan, state, event) => {
    if (event.by !== 'supervisor') return undefined;
    const record = Object.values(state.steps).find(
      (step) => isLeased(step) && leaseOverAt(plan, step, event.graceFrom, event.away) <= event.now,
    );
    const planStep = record && agentStep(plan, record.name);
    if (planStep === undefined || !isLeased(record)) return undefined;
    const { name, attempt, mode, leaseUntil } = record;
    const step = leaseLost(planStep, record, {
      ...event,
      isOverTime: isTimeOver(planStep, state, event.readAt),
    });
    return writing(state.execution.id, { step }, evaluateNext([name]), {
      what: 'lease-ended',
      step: name,
      attempt,
      detail: mode,
      agent: attemptedVariant(planStep, record).agent,
      ms: event.now - leaseUntil,
      ...defined({ failure: step.attempts.at(-1)?.failure }),
    });
  },
  dueAt: (plan, { steps }, { graceFrom, away }) =>
    Object.values(steps)
      .filter(isLeased)
      .map((record) => ({
        at: leaseOverAt(plan, record, graceFrom, away),
        step: record.name,
        coming: () => ({ what: SILENT, who: 'supervisor' }),
      })),
  says: { 'lease-ended': 'the lease has ended: the outcome of the attempt counts as unknown' },
};

const SILENT = 'its agent reports, or renews its lease; if it stays silent, its outcome counts as unknown';

/**
 * Fails a step whose condition cannot be evaluated, because an input of the condition was left out: the step
 * can be neither done nor skipped.
 */
export const refuseCondition: Rule = {
  apply: (plan, state, event) => {
    for (const step of plan.steps) {
      if (step.when === undefined || !isDueWithCondition(step, state)) continue;
      const failure = leftOutIn(step.when, state);
      // Child executions may be starting: their places are taken first (`child-rules.ts`).
      if (failure === undefined || (hasChildren(step) && isLostFailure(failure))) continue;
      const record = state.steps[step.name] ?? blankStep(step.name, state.execution);
      const move = isUnbegun(record) ? 'fail' : 'reject';
      const failed = stepAfter(record, move, event, { changedAt: event.now, failure });
      return writingStep(state, failed, 'step-failed');
    }
    return undefined;
  },
  says: { 'step-failed': 'a step fails, because its condition cannot be evaluated' },
};

/**
 * True if the condition must be evaluated. A callback may be answered, or get a heartbeat, before its turn.
 */
const isDueWithCondition = (step: PlanStep, state: Snapshot): boolean =>
  isTurnToBegin(step, state) ||
  (isCallback(step) &&
    isTurn(step, state) &&
    ['waiting', 'answered'].includes(state.steps[step.name]?.status ?? 'ready'));

export const skip: Rule = {
  apply: (plan, state, event) => {
    const name = stepToSkip(plan, state)?.name;
    if (name === undefined) return undefined;
    return writingStep(state, closedWithoutAttempt(state, name, 'skip', event), 'step-skipped');
  },
  says: { 'step-skipped': 'a step is skipped, because its condition does not hold' },
};

/** Closes a step as fenced or skipped, whether or not it was ever claimed. */
function closedWithoutAttempt(
  { execution, steps }: Snapshot,
  name: string,
  event: 'skip' | 'fence',
  inputs: DecisionInputs,
): Step {
  return stepAfter(steps[name] ?? blankStep(name, execution), event, inputs, {
    epoch: execution.epoch,
    changedAt: inputs.now,
    retryAt: undefined,
    // A closed step waits for no undo, so time in a pause must not count as time in which the undo could not
    // begin.
    undoDeferredAt: undefined,
  });
}

function fencing(state: Snapshot, name: string, inputs: DecisionInputs): Decision {
  const step = closedWithoutAttempt(state, name, 'fence', inputs);
  return writing(state.execution.id, { step }, evaluateNext('all'), { what: 'step-fenced', step: name });
}

/** Gives up accepted work whose outcome no probe could determine; by now it can no longer act. */
export const giveUpAccepted: Rule = {
  apply: (plan, state, event) => {
    const left = awaited(plan, state).find((record) => givenUpAt(record.accepted) <= event.now);
    return left && fencing(state, left.name, event);
  },
  dueAt: (plan, state) =>
    awaited(plan, state).map(({ name, accepted }) => ({
      at: givenUpAt(accepted),
      step: name,
      coming: () => ({ what: 'accepted work is left as it is: its time is over', who: 'supervisor' }),
    })),
  says: { 'step-fenced': 'accepted work is left as it is, because its time is over' },
};

type AcceptedStep = Step & Required<Pick<Step, 'accepted'>>;

const awaited = (plan: Plan, { steps }: Snapshot): AcceptedStep[] =>
  agentSteps(plan).flatMap((step) => {
    const record = steps[step.name];
    if (record?.accepted === undefined || isLeased(record)) return [];
    return effectOf(step, record).isAwaited ? [record as AcceptedStep] : [];
  });

export const fence: Rule = {
  apply: (plan, state, event) => {
    const step = stepToFence(plan, state);
    return step && fencing(state, step.name, event);
  },
  says: { 'step-fenced': 'a step that has not started is closed for good' },
};

/** Decides about a failed step: its next stage, the move that makes it final, or a question. */
export const closeFailure: Rule = {
  apply: (plan, state, event) => {
    const moveOf = isPerforming(state.execution.status) ? forwardMove : endingMove;
    for (const planned of plan.steps) {
      const record = state.steps[planned.name];
      const move = record && moveOf(plan, planned, record, state, event.now);
      if (record === undefined || move === undefined) continue;
      const step = stepAfter(record, move.event, event, { changedAt: event.now, ...move.changes });
      // Logged as a final failure: an on-failure step was to report the execution's failure, and no other log
      // line says that it did not.
      const isLast = plan.onFailureOf !== undefined && step.status === 'tolerated';
      const what = isLast ? 'on-failure-failed' : move.what;
      return writingBoth(state, step, what, event);
    }
    return undefined;
  },
  dueAt: (plan, state) =>
    toleratedTimes(plan, state).map((at) => ({
      at,
      coming: () => ({
        what: 'a failure is tolerated: nothing of it can act any more then',
        who: 'supervisor',
      }),
    })),
  says: {
    'next-stage': 'the next stage of a recovery follows, because what the former one may have done is undone',
    'no-undo': 'a person is asked, because it may have acted and has no undo',
    'step-tolerated': 'a failure is tolerated: nothing of it is under way or left to undo',
    'step-failed': 'a failure is left as it is, because nothing is undone any more',
    'undo-given-up':
      'an undo that would have led to another stage is left, because nothing is undone any more',
    'on-failure-failed': 'an on-failure step failed for good, which does not change how the execution ended',
  },
};

interface Move {
  readonly event: StepEvent;
  readonly what: string;
  readonly changes: StepChanges;
}

const OVER: StepChanges = { retryAt: undefined, undoDeferredAt: undefined, nextStage: undefined };

const final = (record: Step, changes: StepChanges = {}): Move => ({
  event: 'tolerate',
  what: 'step-tolerated',
  changes: { ...OVER, failure: whyItFailed(record), ...changes },
});

/**
 * Tolerates the failure with its effects left in place. A person's decision for undone effects was for an
 * execution that went on.
 */
const asItIs = (step: PlanStep, record: Step): Move =>
  final(record, effectOf(step, record).isOwed ? { afterFailure: undefined } : {});

/** Tolerates the failure once all its effects are undone. A step without a lasting effect is over by now. */
const undone = (step: PlanStep, record: Step): Move =>
  final(record, { mayHaveActed: record.mayHaveActed && effectOf(step, record).is !== 'none' });

function forwardMove(
  plan: Plan,
  step: PlanStep,
  record: Step,
  state: Snapshot,
  now: number,
): Move | undefined {
  if (record.status === 'compensated' && record.nextStage !== undefined) return nextStage(record, now);
  // In a list, too many failed items fail it, and may be retried with it.
  if (!mayFail(plan, step, record) || firstTooMany(plan, state) !== undefined) return undefined;
  const at = toleratedAt(plan, step, record);
  if (at === 'person') return { event: 'ask', what: 'no-undo', changes: { retryAt: undefined } };
  if (at === undefined || at > now) return undefined;
  return record.status === 'compensation-failed' ? asItIs(step, record) : undone(step, record);
}

const nextStage = (record: Step, now: number): Move => ({
  event: 'next-stage',
  what: 'next-stage',
  changes: {
    ...defined({ stage: record.nextStage }),
    // After accepted work that did not end in time, the same stage may go on; then the count of its attempts
    // continues.
    stageAttempt: record.nextStage === record.stage ? record.stageAttempt : 0,
    nextStage: undefined,
    givenInput: undefined,
    mayHaveActed: false,
    probes: 0,
    // The next stage has its own undo.
    undoAttempt: 0,
    undoDeferredAt: undefined,
    retryAt: now,
  },
});

/**
 * The move for an execution in which nothing is undone: an undo under way is awaited, no other begins, and
 * possible effects are reported. It is a write, because a process that read before the stop could still undo
 * the step.
 */
function endingMove(plan: Plan, step: PlanStep, record: Step, state: Snapshot): Move | undefined {
  // A child execution is stopped, and its own record has the effects that it left.
  if (!endsAsItIs(state) || isLeased(record) || step.kind !== 'agent') return undefined;
  const last = mayFail(plan, step, record) ? finalMove(plan, step, record, state) : undefined;
  if (last !== undefined || record.nextStage === undefined) return last;
  switch (record.status) {
    case 'failed':
      return { event: 'keep-effects', what: 'step-failed', changes: OVER };
    case 'compensating':
      return {
        event: 'fail-undo',
        what: 'undo-given-up',
        changes: { ...OVER, status: 'compensation-failed' },
      };
    default:
      return undefined;
  }
}

function finalMove(plan: Plan, step: PlanStep, record: Step, state: Snapshot): Move | undefined {
  switch (record.status) {
    case 'compensated':
      return undone(step, record);
    case 'compensating':
    case 'compensation-failed':
      return asItIs(step, record);
    case 'failed': {
      if (record.afterFailure === 'continue') return asItIs(step, record);
      if (!effectOf(step, record).isOwed) return undefined;
      if (firstTooMany(plan, state) === undefined) return asItIs(step, record);
      const isBefore = record.changedAt < (state.execution.cause?.at ?? 0);
      return isBefore ? { ...final(record), event: 'keep-effects', what: 'step-failed' } : undefined;
    }
    default:
      return undefined;
  }
}
