/**
 * An attempt that has come to its end: what is known of it, and what every end writes.
 *
 * Owns: these, and what a wrong answer makes of the step. Does not own: what each other way to end makes of
 * it (`report.ts`, `probe-report.ts`).
 */

import type { AgentStep } from '../plan/plan.ts';
import { type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import type { EventOf, Report } from '../decisions/events.ts';
import type { Failure } from '../values/failure.ts';
import { given } from '../values/given.ts';
import type { Attempt, LeasedStep, Step } from '../records/state.ts';
import { interrupted, type NotCharged, notCharged } from './defer.ts';
import { historyOf } from './history.ts';
import { attemptedVariant } from './recovery.ts';

export interface Ending {
  readonly step: AgentStep;
  /** As it was for this attempt. */
  readonly variant: AgentStep;
  readonly record: LeasedStep;
  readonly inputs: DecisionInputs;
  /** Present if a dead service failed it, or another attempt: what to write so that it is not charged. */
  readonly uncharged?: NotCharged | undefined;
  /** The time of the step is over: a person is asked only if no probe can say what it did. */
  readonly isOverTime: boolean;
  /** When the time of the step or of the execution is over. */
  readonly overAt?: number;
  /** The step is an on-failure step. */
  readonly isOnFailure: boolean;
}

export type Reported = Pick<EventOf<'report'>, 'token' | 'report' | 'notBefore' | 'away'> & {
  /** Its failure is not final yet, if it has failed. */
  readonly mayFail?: boolean;
  readonly isOverTime?: boolean;
  readonly isOnFailure?: boolean;
  /** No deadline of the execution's ends it. */
  readonly unbounded?: boolean;
  /** When the time of the step or of the execution is over. */
  readonly overAt?: number;
};

/** @param inputs what the decision was given, and of a report what it carried */
export const endingOf = (
  step: AgentStep,
  record: LeasedStep,
  inputs: DecisionInputs & Omit<Reported, 'token' | 'report' | 'mayFail'> & Partial<Pick<Reported, 'report'>>,
): Ending => ({
  step,
  variant: attemptedVariant(step, record),
  record,
  inputs,
  uncharged:
    inputs.report?.interrupted === true
      ? interrupted(record, inputs)
      : notCharged(record, inputs.notBefore, inputs, inputs.unbounded),
  isOverTime: inputs.isOverTime === true,
  ...given({ overAt: inputs.overAt }),
  isOnFailure: inputs.isOnFailure === true,
});

/** What every end changes, also of what is no attempt: the lease is released at once. */
export const unrecorded = ({ record, inputs }: Ending): Unrecorded => ({
  leaseUntil: undefined,
  // An agent has begun it, so it was not put off all along; what a dead service failed says otherwise.
  ...(record.undoDeferredAt === undefined ? {} : { undoDeferredAt: undefined }),
  processDeadlineAt: record.processDeadlineAt,
  ...given({ processes: record.processes }),
  changedAt: inputs.now,
});

type Unrecorded = Pick<
  StepChanges,
  'leaseUntil' | 'undoDeferredAt' | 'processDeadlineAt' | 'processes' | 'changedAt'
>;

/** What every end of an attempt changes: the history grows by one. */
export const ended = (
  ending: Ending,
  outcome: Attempt['outcome'],
  failure?: Failure,
): StepChanges & Pick<Step, 'attempts' | 'leftOut'> => ({
  ...unrecorded(ending),
  ...historyOf(ending.record, outcome, ending.inputs.now, failure),
  ...given({ failure }),
});

/**
 * A person had it asked for again, after an answer that was no output: whatever came of that, the work is
 * done, and a person is asked once more before anything of it is undone.
 */
export const isKnownDone = ({ record, isOnFailure }: Ending): boolean =>
  record.wrongAnswer !== undefined && record.mayHaveActed && !isOnFailure;

/**
 * The work is done, but its answer is no valid output: the agent's author is wrong, not the work. So no other
 * stage does it again or takes it back before a person was asked. An on-failure step is never taken back, so
 * no person has to be asked about one.
 */
export function answeredWrongly(
  ending: Ending,
  { failure, answer }: Report & { readonly kind: 'wrong-answer' },
  outcome: Attempt['outcome'],
): Step {
  const { record, inputs, isOnFailure } = ending;
  const known = { mayHaveActed: true, wrongAnswer: answer, isPermanent: true } as const;
  const changes = { ...ended(ending, outcome, failure), ...known };
  const event = record.status === 'probing' ? 'give-up' : 'fail';
  return stepAfter(record, event, inputs, { ...changes, status: isOnFailure ? 'failed' : 'waiting' });
}
