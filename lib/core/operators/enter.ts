/**
 * Enters in a root execution's record that a person is about to act in an execution below it.
 *
 * Owns: the write. Does not own: what is entered (`records/people.ts`), or the act, which follows
 * (`scheduler/people.ts`). An act in the root itself is entered by the act's own write.
 */

import { executionAfter, type DecisionInputs } from '../decisions/change.ts';
import { type Decision, IDLE, nothing, writing } from '../decisions/decision.ts';
import { type Acted, peopleAfter } from '../records/people.ts';
import { type Execution, isTerminal } from '../records/state.ts';

/** Writes nothing if the person is entered already, if people are not kept, or if the execution is over. */
export function enter(
  execution: Execution,
  { acted, ...inputs }: DecisionInputs & { readonly acted: Acted },
): Decision {
  const { people } = execution;
  const after = people && peopleAfter(people, acted);
  if (after === undefined || after === people || isTerminal(execution.status)) return nothing();
  const entered = executionAfter(execution, 'adopt', inputs, { people: after });
  const note = { what: 'person-entered' };
  return { ...writing(execution.id, { execution: entered }, IDLE, note), wakeTime: 'as-written' };
}
