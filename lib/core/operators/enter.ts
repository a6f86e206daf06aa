/**
 * The entry of a person who is about to act somewhere below an execution, in that execution's record.
 *
 * Owns: the write. Does not own: what is entered (`records/people.ts`), or the act, which follows in an
 * execution of its own (`scheduler/people.ts`). An act in the very execution that has the people is
 * entered by the act's own write.
 */

import { executionAfter, type DecisionInputs } from '../decisions/change.ts';
import { type Decision, IDLE, nothing, writing } from '../decisions/decision.ts';
import { type Acted, peopleAfter } from '../records/people.ts';
import { type Execution, isTerminal } from '../records/state.ts';

/**
 * Nothing if the entry is there already, if no person has to be entered, or if the execution is over with
 * everything below it.
 */
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
