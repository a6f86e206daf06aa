/**
 * The question of an approval or a callback: put into the inbox when its turn comes, answered from outside
 * through the API, closed when its step stops waiting.
 *
 * Owns: when it is opened and closed, the values that an approval shows, when an answer can be accepted, and
 * what each of these writes. Does not own: what all questions have in common (`life.ts`), how long the step
 * waits and what happens without an answer (`waiting/waits.ts`), who may answer (the token,
 * `scheduler/callbacks.ts`), the names that may be shown (`author/checks/check-waiting.ts`).
 *
 * It is open only while its step waits for an answer and its execution has not ended: it is opened in one
 * transaction with the execution, and closed by the write that ends the step's waiting (`closeCallback`). No
 * lease covers an answer, so the write of an answer includes the execution and brings its wake time forward
 * (S12). An answer before the step's turn is kept until the turn comes, so that an external party may be
 * faster than the report of the step that asked it.
 */

import { type CallbackStep, graphOf, isCallback, type Plan } from '../plan/plan.ts';
import { evaluateExpression } from '../plan/refs.ts';
import {
  blankStep,
  canMoveStep,
  type DecisionInputs,
  entering,
  executionAfter,
  stepAfter,
  writingStep,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, nothing, writing } from '../decisions/decision.ts';
import type { CallbackAnswer, Evaluation, Event, EventOf } from '../decisions/events.ts';
import type { Caller } from '../values/caller.ts';
import type { Failure } from '../values/failure.ts';
import { isJsonObject, type Json } from '../values/json.ts';
import { cut, timeText } from '../values/text.ts';
import { type CallbackQuestion, isOpen } from '../records/question.ts';
import { callbackOf, type Snapshot } from '../records/snapshot.ts';
import { isForward, isUndecided, type Step } from '../records/state.ts';
import { leftOutIn } from '../step/left-out.ts';
import type { Rule } from '../step/rule.ts';
import { applies, isTurn, scopeOf } from '../step/turn.ts';
import { nowWithoutPause, timeOverAt } from '../step/within.ts';
import { over, waitEndsAt } from '../waiting/waits.ts';
import { changed, closed, nextReminder, opened } from './life.ts';

/**
 * Puts an approval or a callback into the inbox when its turn has come. An approval asks a person, so its
 * execution is then `waiting`.
 */
export const askForAnswer: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const step = plan.steps.find((one): one is CallbackStep => isCallback(one) && isToOpen(one, state));
    if (step === undefined) return undefined;
    const { name, kind, otherwise = 'fail' as const } = step;
    const leftOut = leftOutIn(step.show, state);
    if (leftOut !== undefined) return refusedToAsk(state, event, name, leftOut);
    const deadlineAt = timeOverAt(step, state);
    const remindAt = nextReminder(plan, { step: name, deadlineAt }, event.now);
    const asked = { kind, step: name, otherwise, deadlineAt, remindAt, shown: shownBy(step, state) };
    const question = opened<CallbackQuestion>(execution, asked, event, callbackOf(state, name));
    // Writes the execution, too, even for a callback: otherwise an answer that comes now would leave the
    // question open.
    const wakeAt = Math.min(deadlineAt, remindAt ?? deadlineAt);
    const asks = executionAfter(execution, 'adopt', event, { wakeAt });
    return changed(state, { execution: asks, question }, `${kind}-opened`);
  },
  says: {
    'approval-opened': 'an approval is put into the inbox',
    'callback-opened': 'a callback is put into the inbox',
    'step-failed': 'an approval fails, because what it is to show cannot be read',
  },
};

/** V4 Fails the step instead of asking for an approval if the values cannot be shown. */
function refusedToAsk(state: Snapshot, event: Evaluation, name: string, failure: Failure): Decision {
  const record = state.steps[name] ?? blankStep(name, state.execution);
  const step = stepAfter(record, 'fail', event, { changedAt: event.now, failure });
  return writingStep(state, step, 'step-failed');
}

function isToOpen(step: CallbackStep, state: Snapshot): boolean {
  const known = callbackOf(state, step.name);
  // Changes of its question from an earlier epoch must be announced first.
  if (known !== undefined && (isOpen(known) || known.unannounced !== undefined)) return false;
  return state.steps[step.name]?.status !== 'answered' && waitEndsAt(step, state) !== undefined;
}

/** Adds the closing of the step's question to a write that ends the step's waiting. */
export function closeCallback(state: Snapshot, event: Event, decision: Decision): Decision {
  const { write } = decision;
  if (state.questions === undefined || write?.step === undefined) return decision;
  const { name, status, failure } = write.step;
  const asked = callbackOf(state, name);
  if (asked === undefined || !isOpen(asked) || canMoveStep(status, 'answer')) return decision;
  const isFailed = status === 'failed' || (status === 'answered' && failure !== undefined);
  const isMoot = status === 'fenced' || status === 'skipped';
  const closedBy = isMoot ? 'moot' : event.type === 'callback' ? 'answer' : 'deadline';
  const outcome = isMoot ? undefined : isFailed ? 'failed' : 'done';
  const question = closed(asked, { closedBy, outcome }, event);
  return { ...decision, write: { ...write, question } };
}

/**
 * The longest text, in UTF-16 units, of one shown value or of its JSON; of a longer one the beginning is
 * shown, as text.
 */
export const MAX_SHOWN_CHARS = 500;

/** The values to show, by name, without missing ones; undefined if the approval shows nothing. */
export function shownBy({ show }: CallbackStep, state: Snapshot): Readonly<Record<string, Json>> | undefined {
  if (show === undefined) return undefined;
  const values = evaluateExpression(show, scopeOf(state));
  if (!isJsonObject(values)) return undefined;
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shortened(value)]));
}

function shortened(value: Json): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MAX_SHOWN_CHARS ? value : `${cut(text, MAX_SHOWN_CHARS - 1)}…`;
}

/**
 * Why an answer cannot be accepted; undefined if it can. After its time none can, even if that was not
 * noticed yet.
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
  const untilAt = waitEndsAt(step, snapshot);
  const isOver = untilAt !== undefined && nowWithoutPause(snapshot.execution, now) >= untilAt;
  return isOver ? `the time for its answer was over at ${timeText(untilAt)}` : undefined;
}

/**
 * The transaction of an answer. An unacceptable answer changes nothing; `callbackProblem` gives the reason.
 */
export function answerCallback(plan: Plan, state: Snapshot, event: EventOf<'callback'>): Decision {
  const { execution } = state;
  const step = graphOf(plan).step.get(event.step);
  if (step === undefined || callbackProblem(plan, state, event.step, event.now) !== undefined)
    return nothing();
  const record = state.steps[step.name] ?? blankStep(step.name, execution);
  // An answer during a pause is kept, and counts when the pause ends.
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

/**
 * The step's record after an answer. An earlier answer, from before a retry of the execution, no longer
 * counts.
 */
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
