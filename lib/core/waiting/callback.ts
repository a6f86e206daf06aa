/**
 * The answer to a callback or an approval step, which comes from outside through the API.
 *
 * Owns: when an answer can be taken, and what it writes. Does not own: who may answer (the token, `scheduler/callbacks.ts`),
 * when nobody has answered in time (`waiting/timer.ts`).
 *
 * An answer is covered by no lease, so it is one transaction of the step and the execution, whose watch it draws near (S12).
 * An answer before the step's turn is kept and counts when the turn comes: an outside that is faster than the report of the
 * step that asked it loses nothing.
 */

import { type CallbackStep, graphOf, isCallback, type Plan } from '../plan/plan.ts';
import { blankStep, executionAfter, noLater, type Stamp, stepAfter } from '../records/change.ts';
import type { Decision, Note } from '../records/decision.ts';
import type { CallbackAnswer } from '../records/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isForward, isPausedOrPausing, type Step } from '../records/state.ts';
import { applies, isTurn } from '../step/turn.ts';
import { canMoveStep } from '../transitions.ts';
import { over } from './timer.ts';

/** Why an answer cannot be taken, or nothing. */
export function callbackProblem(plan: Plan, snapshot: Snapshot, name: string): string | undefined {
  const { status } = snapshot.execution;
  if (!isForward(status) && !isPausedOrPausing(status)) return `the execution is ${status}`;
  if (!isCallback(graphOf(plan).step.get(name))) return 'no such callback';
  const record = snapshot.steps[name]?.status ?? 'ready';
  return canMoveStep(record, 'answer') ? undefined : `'${name}' is ${record} already`;
}

/** The transaction of an answer. The caller has asked `callbackProblem`. */
export function answerCallback(
  plan: Plan,
  snapshot: Snapshot,
  name: string,
  answer: CallbackAnswer,
  stamp: Stamp & { readonly horizonMs: number },
): Decision {
  const step = graphOf(plan).step.get(name) as CallbackStep;
  const record = snapshot.steps[name] ?? blankStep(name, snapshot.execution);
  const { execution } = snapshot;
  // An answer during a pause is kept, and counts when the pause is over.
  const turn = isForward(execution.status) && isTurn(plan, step, snapshot) && applies(step, snapshot);
  const watchAt = noLater(execution, stamp.now + stamp.horizonMs);
  return {
    write: {
      executionId: execution.id,
      step: answered(record, answer, turn, stamp),
      execution: executionAfter(execution, 'adopt', stamp, { watchAt }),
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern: [name] },
    notes: [noteOf(execution.id, name, answer.kind)],
  };
}

function answered(record: Step, answer: CallbackAnswer, turn: boolean, stamp: Stamp): Step {
  switch (answer.kind) {
    case 'beat':
      return stepAfter(record, 'beat', stamp, { progressAt: stamp.now, beat: record.beat + 1 });
    case 'complete':
      return over(record, turn ? 'complete' : 'answer', stamp, { output: answer.output });
    case 'fail':
      return over(record, turn ? 'reject' : 'answer', stamp, { failure: answer.failure });
  }
}

const noteOf = (executionId: string, step: string, detail: string): Note => ({
  what: 'answered',
  executionId,
  step,
  detail,
});
