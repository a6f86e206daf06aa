/**
 * Executions of a step that nobody can name any more, because the list that they follow from is lost.
 *
 * Owns: what their stop becomes. Does not own: when they are stopped (`child-rules.ts`), what is lost
 * (`step/left-out.ts`).
 */

import { stepAfter } from '../decisions/change.ts';
import { alsoAffected, type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import type { Children, Family } from '../records/children.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';
import { isLostFailure } from '../step/left-out.ts';
import type { Failure } from '../values/failure.ts';

/** Which executions it has follows from a value that is lost. */
export const isLostOf = (family: Family | Failure, record: Step | undefined): record is StepWithChildren =>
  'code' in family && isLostFailure(family) && record?.children !== undefined;

type StepWithChildren = Step & { readonly children: Children };

/** A person is asked: what its executions did may stand. */
export function cannotBeStopped(
  state: Snapshot,
  event: Evaluation,
  record: StepWithChildren,
  failure: Family | Failure,
): Decision {
  const { now: changedAt } = event;
  const { children } = record;
  const after =
    record.status === 'compensating'
      ? stepAfter(record, 'fail-undo', event, { changedAt, failure: failure as Failure })
      : stepAfter(record, 'stop-children', event, { changedAt, children: { ...children, stopped: 0 } });
  const note = { what: `step-${after.status}`, step: record.name };
  const next = evaluateNext(alsoAffected(event.affected, record.name));
  return writing(state.execution.id, { step: after }, next, note);
}
