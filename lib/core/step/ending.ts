/**
 * An attempt that has come to its end: what is known of it, and what every end writes.
 *
 * Owns: these. Does not own: what each way to end makes of the step (`report.ts`).
 */

import type { AgentStep } from '../plan/plan.ts';
import type { DecisionInputs, StepChanges } from '../decisions/change.ts';
import type { EventOf, OpenBreaker } from '../decisions/events.ts';
import type { Failure } from '../values/failure.ts';
import { given } from '../values/given.ts';
import type { Attempt, LeasedStep, Step } from '../records/state.ts';
import { type NotCharged, notCharged } from './defer.ts';
import { historyOf } from './history.ts';
import { attemptedVariant } from './recovery.ts';

/** An attempt that has come to its end. */
export interface Ending {
  readonly step: AgentStep;
  /** As it was for this attempt. */
  readonly variant: AgentStep;
  readonly record: LeasedStep;
  readonly inputs: DecisionInputs;
  /** A dead service failed it, so it is not charged. */
  readonly free?: NotCharged | undefined;
  /** The time of the step is over: a person is asked only if no probe can say what it did. */
  readonly isOverTime: boolean;
  /** When it will be, or that of the execution. */
  readonly overAt?: number;
  /** The execution has its end, and this step comes after it. */
  readonly isOnFailure: boolean;
}

export type Reported = Pick<EventOf<'report'>, 'token' | 'report' | 'openBreaker'> & {
  /** Its failure is not final yet, if it has failed. */
  readonly mayFail?: boolean;
  readonly isOverTime?: boolean;
  readonly isOnFailure?: boolean;
  /** No deadline of the execution's ends it. */
  readonly unbounded?: boolean;
  /** When the time of the step or of the execution is over. */
  readonly overAt?: number;
};

export const endingOf = (
  step: AgentStep,
  record: LeasedStep,
  inputs: DecisionInputs & Pick<Reported, 'isOverTime' | 'isOnFailure'>,
  openBreaker?: OpenBreaker,
  unbounded?: boolean,
  overAt?: number,
): Ending => ({
  step,
  variant: attemptedVariant(step, record),
  record,
  inputs,
  free: notCharged(record, openBreaker, inputs, unbounded),
  isOverTime: inputs.isOverTime === true,
  ...given({ overAt }),
  isOnFailure: inputs.isOnFailure === true,
});

/** What every end of an attempt changes: the lease is released at once, the history grows by one. */
export const ended = (
  { record, inputs }: Ending,
  outcome: Attempt['outcome'],
  failure?: Failure,
): StepChanges & Pick<Step, 'attempts' | 'leftOut'> => ({
  leaseUntil: undefined,
  processDeadlineAt: record.processDeadlineAt,
  ...given({ processes: record.processes }),
  changedAt: inputs.now,
  ...historyOf(record, outcome, inputs.now, failure),
  ...given({ failure }),
});
