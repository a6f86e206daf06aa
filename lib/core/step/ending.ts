/**
 * An attempt that has ended: its known facts, and the changes that every end writes.
 *
 * Owns: the shared changes, and what a wrong answer means for the step. Does not own: what other ends mean
 * (`report.ts`, `probe-report.ts`).
 */

import type { AgentStep } from '../plan/plan.ts';
import { type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import type { EventOf, Report } from '../decisions/events.ts';
import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import type { Attempt, LeasedStep, Step } from '../records/state.ts';
import { notCharged } from './defer.ts';
import { historyOf } from './history.ts';
import { attemptedVariant } from './recovery.ts';

export interface Ending {
  readonly step: AgentStep;
  /** The step's variant for this attempt. */
  readonly variant: AgentStep;
  readonly record: LeasedStep;
  readonly inputs: DecisionInputs;
  /**
   * Set if it failed because of a dead service or another attempt: the changes by which it is not charged.
   */
  readonly uncharged?: ReturnType<typeof notCharged>;
  /** True if the step's time is over: a person is then asked only if no probe can say what the step did. */
  readonly isOverTime: boolean;
  /** When the time of the step or of the execution is over. */
  readonly overAt?: number;
  /** True for an on-failure step. */
  readonly isOnFailure: boolean;
}

export type Reported = Pick<EventOf<'report'>, 'token' | 'report' | 'notBefore' | 'away'> & {
  /** True while a failure of the step is not final. */
  readonly mayFail?: boolean;
  readonly isOverTime?: boolean;
  readonly isOnFailure?: boolean;
  /** True if no deadline of the execution ends the attempt. */
  readonly unbounded?: boolean;
  /** When the time of the step or of the execution is over. */
  readonly overAt?: number;
};

/** @param inputs of the decision, and a report's own fields */
export const endingOf = (
  step: AgentStep,
  record: LeasedStep,
  inputs: DecisionInputs &
    Omit<Reported, 'token' | 'report' | 'mayFail'> & {
      readonly report?: Report;
      /** Set if the process of the attempt ended through no fault of the attempt. */
      readonly interrupted?: true;
    },
): Ending => ({
  step,
  variant: attemptedVariant(step, record),
  record,
  inputs,
  uncharged: notCharged(record, { ...inputs, ...inputs.report }),
  isOverTime: inputs.isOverTime === true,
  ...defined({ overAt: inputs.overAt }),
  isOnFailure: inputs.isOnFailure === true,
});

/** The changes at every end, even without an attempt: the lease is released at once. */
export const unrecorded = ({ record, inputs }: Ending): Unrecorded => ({
  leaseUntil: undefined,
  // An agent has begun the undo, so it was not deferred all the time. A failure because of a dead service
  // sets the field again.
  ...(record.undoDeferredAt === undefined ? {} : { undoDeferredAt: undefined }),
  processDeadlineAt: record.processDeadlineAt,
  ...defined({ processes: record.processes }),
  changedAt: inputs.now,
});

type Unrecorded = Pick<
  StepChanges,
  'leaseUntil' | 'undoDeferredAt' | 'processDeadlineAt' | 'processes' | 'changedAt'
>;

/** The changes at every end of an attempt, which include its entry in the history. */
export const ended = (
  ending: Ending,
  outcome: Attempt['outcome'],
  failure?: Failure,
): StepChanges & Pick<Step, 'attempts' | 'leftOut'> => ({
  ...unrecorded(ending),
  ...historyOf(ending.record, outcome, ending.inputs.now, failure),
  ...defined({ failure }),
});

/**
 * True if a person had the work requested again after a wrong answer. Whatever the result, the work is done,
 * and a person is asked once more before it is undone.
 */
export const isKnownDone = ({ record, isOnFailure }: Ending): boolean =>
  record.wrongAnswer !== undefined && record.mayHaveActed && !isOnFailure;

/**
 * The step after a wrong answer: the work is done, but its agent's author made a mistake in the output. So no
 * other stage repeats or undoes it before a person was asked. An on-failure step is never undone, so no one
 * is asked about it.
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
