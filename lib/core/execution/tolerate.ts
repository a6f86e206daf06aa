/**
 * The failure of a tolerated step: the one move that makes it final, or the question that comes before it.
 *
 * Owns: when it is final, when a person is asked, and how a stop that leaves things as they are affects it.
 * Does not own: which steps may fail (`plan/outcomes.ts`), their compensation (`step/ready.ts`), the incident
 * (`questions/incident.ts`).
 *
 * S20 a failure is tolerated in one recorded, final move: on a fresh read, when no attempt of the step can
 * act any more and nothing must be undone: it did not act, it is compensated, or a person or the time for an
 * answer decided so. Each of these writes is one transaction with the execution, so that none comes after a
 * pause, a stop or an end that its writer did not see.
 */

import { isTolerated } from '../plan/outcomes.ts';
import type { Plan, PlanStep } from '../plan/plan.ts';
import { executionAfter, stepAfter } from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isLeased, isPerforming, type Step } from '../records/state.ts';
import { effectOf, undoesNothing } from '../step/effect.ts';
import { toleratedAt, toleratedTimes, whyItFailed } from '../step/tolerance.ts';
import { firstTooMany, mayFail } from '../step/turn.ts';
import type { Rule } from '../step/rule.ts';

export const tolerate: Rule = {
  apply: (plan, state, event) => {
    const move = isPerforming(state.execution.status) ? forwardMove : endingMove;
    for (const step of plan.steps) {
      const record = state.steps[step.name];
      if (record === undefined || !isTolerated(step) || !mayFail(plan, step, record)) continue;
      const what = move(plan, step, record, state, event.now);
      if (what !== undefined) return written(plan, state, event, step, what);
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
    'no-undo': 'a person is asked, because it may have acted and has no undo',
    'step-tolerated': 'a failure is tolerated: nothing of it is under way or left to undo',
    'step-failed': 'a failure is left as it is, because nothing is undone any more',
    'on-failure-failed': 'an on-failure step failed for good, which does not change how the execution ended',
  },
};

const NOTES = {
  ask: 'no-undo',
  tolerate: 'step-tolerated',
  leave: 'step-tolerated',
  'keep-effects': 'step-failed',
} as const;

/** Tolerated once all of it is undone, or left as it is. */
type Move = 'tolerate' | 'ask' | 'leave' | 'keep-effects';

function forwardMove(
  plan: Plan,
  step: PlanStep,
  record: Step,
  state: Snapshot,
  now: number,
): Move | undefined {
  // In a list, too many failed items fail it, and may be retried with it.
  if (firstTooMany(plan, state) !== undefined) return undefined;
  const at = toleratedAt(plan, step, record);
  if (at === 'person') return 'ask';
  if (at === undefined || at > now) return undefined;
  return record.status === 'compensation-failed' ? 'leave' : 'tolerate';
}

/**
 * The move that closes the step after a stop: it needs a write, because a process that read before the stop
 * could still undo the step.
 */
function closedMove(plan: Plan, step: PlanStep, record: Step, state: Snapshot): Move | undefined {
  if (record.afterFailure === 'continue') return 'leave';
  if (!effectOf(step, record).isOwed) return undefined;
  if (firstTooMany(plan, state) === undefined) return 'leave';
  return record.changedAt < (state.execution.cause?.at ?? 0) ? 'keep-effects' : undefined;
}

/**
 * Nothing is undone any more: an undo under way is awaited, another does not begin, and possible effects are
 * reported.
 */
function endingMove(plan: Plan, step: PlanStep, record: Step, state: Snapshot): Move | undefined {
  if (state.execution.status !== 'compensating' || !undoesNothing(state) || isLeased(record))
    return undefined;
  // A child execution is stopped, and its own record says what it has left.
  if (step.kind !== 'agent') return undefined;
  switch (record.status) {
    case 'compensated':
      return 'tolerate';
    case 'compensating':
    case 'compensation-failed':
      return 'leave';
    case 'failed':
      return closedMove(plan, step, record, state);
    default:
      return undefined;
  }
}

function written(plan: Plan, state: Snapshot, event: Evaluation, planned: PlanStep, move: Move): Decision {
  const { execution } = state;
  const record = state.steps[planned.name] as Step;
  const { is, isOwed } = effectOf(planned, record);
  const step = stepAfter(record, move === 'leave' ? 'tolerate' : move, event, {
    changedAt: event.now,
    retryAt: undefined,
    ...(move === 'ask'
      ? {}
      : { failure: whyItFailed(record), undoDeferredAt: undefined, nextStage: undefined }),
    // A step without a lasting effect is over by now.
    ...(move === 'tolerate' ? { mayHaveActed: record.mayHaveActed && is !== 'none' } : {}),
    // A person's word was for the execution that went on, and for effects that are undone.
    ...(move === 'leave' && isOwed ? { afterFailure: undefined } : {}),
  });
  const records = { step, execution: executionAfter(execution, 'set-wake-time', event, {}) };
  const next = evaluateNext([step.name]);
  // An on-failure step should have reported a failure to someone and did not. Nothing else is logged for it.
  const isLast = plan.onFailureOf !== undefined && step.status === 'tolerated';
  return writing(execution.id, records, next, {
    what: isLast ? 'on-failure-failed' : NOTES[move],
    step: step.name,
  });
}
