/**
 * The answer to a callback or an approval step, which comes from outside through the API.
 *
 * Owns: when an answer can be accepted, and what it writes. Does not own: who may answer (the token,
 * `scheduler/callbacks.ts`), when there was no answer in time (`waiting/waits.ts`).
 *
 * No lease covers an answer, so it is one transaction of the step and the execution, whose wake time it
 * brings forward (S12). An answer before the step's turn is kept and counts when the turn comes: an external
 * party that is faster than the report of the step that asked it loses nothing.
 */

import { graphOf, isCallback, type Plan } from '../plan/plan.ts';
import type { Caller } from '../values/caller.ts';
import {
  blankStep,
  entering,
  executionAfter,
  type DecisionInputs,
  stepAfter,
  canMoveStep,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, nothing, writing } from '../decisions/decision.ts';
import type { CallbackAnswer, EventOf } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isForward, isUndecided, type Step } from '../records/state.ts';
import { applies, isTurn } from '../step/turn.ts';
import { nowWithoutPause } from '../step/within.ts';
import { timeText } from '../values/text.ts';
import { over, untilOf } from './waits.ts';

/**
 * Why an answer cannot be accepted, or nothing. Once its time is over none is, whoever notices that first.
 */
export function callbackProblem(
  plan: Plan,
  snapshot: Snapshot,
  name: string,
  now: number,
): string | undefined {
  const { status } = snapshot.execution;
  if (!isUndecided(status)) return `the execution is ${status}`;
  const step = graphOf(plan).step.get(name);
  if (!isCallback(step)) return 'no such callback';
  const record = snapshot.steps[name]?.status ?? 'ready';
  if (!canMoveStep(record, 'answer')) return `'${name}' is ${record} already`;
  const untilAt = untilOf(step, snapshot);
  const isOver = untilAt !== undefined && nowWithoutPause(snapshot.execution, now) >= untilAt;
  return isOver ? `the time for its answer was over at ${timeText(untilAt)}` : undefined;
}

/**
 * The transaction of an answer. One that cannot be accepted changes nothing; the caller asks
 * `callbackProblem` for the reason.
 */
export function answerCallback(plan: Plan, state: Snapshot, event: EventOf<'callback'>): Decision {
  const { execution } = state;
  const step = graphOf(plan).step.get(event.step);
  if (step === undefined || callbackProblem(plan, state, event.step, event.now) !== undefined)
    return nothing();
  const record = state.steps[step.name] ?? blankStep(step.name, execution);
  // An answer during a pause is kept, and counts when the pause is over.
  const turn = isForward(execution.status) && isTurn(step, state) && applies(step, state);
  const decision = writing(
    execution.id,
    {
      step: answered(record, event, turn),
      execution: executionAfter(execution, 'adopt', event, {}),
    },
    evaluateNext([step.name]),
    { what: 'answered', step: step.name, detail: event.answer.kind },
  );
  return entering(decision, execution, event.acted);
}

interface Answer extends DecisionInputs {
  readonly answer: CallbackAnswer;
  readonly by?: Caller;
}

/** An answer before a retry of the execution no longer counts, and neither does a missing one. */
function answered(record: Step, { answer, by, ...inputs }: Answer, turn: boolean): Step {
  switch (answer.kind) {
    case 'heartbeat':
      return stepAfter(record, 'heartbeat', inputs, {
        progressAt: inputs.now,
        heartbeat: record.heartbeat + 1,
      });
    case 'complete':
      return over(record, turn ? 'complete' : 'answer', inputs, {
        output: answer.output,
        failure: undefined,
        by,
      });
    case 'fail':
      return over(record, turn ? 'reject' : 'answer', inputs, {
        failure: answer.failure,
        output: undefined,
        by,
      });
  }
}
