/**
 * The question of an approval or a callback: put into the inbox when its turn comes, closed when its waiting
 * ends.
 *
 * Owns: when it is opened and closed, and what that writes. Does not own: the common part of all questions
 * (`life.ts`), until when the step waits (`waiting/waits.ts`), an answer (`waiting/callback.ts`).
 *
 * It is open only while its step waits for an answer and its execution has not ended: it is opened in one
 * transaction with the execution, and the write that ends the step's waiting closes it (`closeCallback`).
 */

import { type CallbackStep, isCallback } from '../plan/plan.ts';
import { blankStep, executionAfter, stepAfter } from '../decisions/change.ts';
import { alsoAffected, type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { Evaluation, Event } from '../decisions/events.ts';
import type { Failure } from '../values/failure.ts';
import { type CallbackQuestion, isOpen } from '../records/question.ts';
import { callbackOf, type Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';
import { leftOutIn } from '../step/left-out.ts';
import { timeOverAt } from '../step/within.ts';
import { shownBy } from '../waiting/shown.ts';
import { untilOf } from '../waiting/waits.ts';
import { changed, closed, nextReminder, opened } from './life.ts';
import type { Rule } from '../step/rule.ts';

/** There is no answer, and one would be accepted: in these statuses, once it is the step's turn. */
const isUnanswered = (status: Step['status']): boolean => status === 'ready' || status === 'waiting';

/**
 * Puts an approval or a callback whose turn has come into the inbox. An approval is a question to
 * a person: its execution waits.
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
    const remindAt = nextReminder(step, event.now, deadlineAt);
    const asked = { kind, step: name, otherwise, deadlineAt, remindAt, shown: shownBy(step, state) };
    const question = opened<CallbackQuestion>(execution, asked, event, callbackOf(state, name));
    // Together with the execution, even for a callback: otherwise an answer that comes now would leave it
    // open.
    const wakeAt = Math.min(deadlineAt, remindAt ?? deadlineAt);
    const asks = executionAfter(execution, 'adopt', event, { wakeAt });
    return changed(state, event.affected, { execution: asks, question }, `${kind}-opened`);
  },
  says: {
    'approval-opened': 'an approval is put into the inbox',
    'callback-opened': 'a callback is put into the inbox',
    'step-failed': 'an approval fails, because what it is to show cannot be read',
  },
};

/** V4 nobody is asked to approve values that cannot be shown. */
function refusedToAsk(state: Snapshot, event: Evaluation, name: string, failure: Failure): Decision {
  const record = state.steps[name] ?? blankStep(name, state.execution);
  const step = stepAfter(record, 'fail', event, { changedAt: event.now, failure });
  return writing(state.execution.id, { step }, evaluateNext(alsoAffected(event.affected, name)), {
    what: 'step-failed',
    step: name,
  });
}

function isToOpen(step: CallbackStep, state: Snapshot): boolean {
  const known = callbackOf(state, step.name);
  // The changes of its question from an earlier epoch are announced first.
  if (known !== undefined && (isOpen(known) || known.unannounced !== undefined)) return false;
  return state.steps[step.name]?.status !== 'answered' && untilOf(step, state) !== undefined;
}

/** A write that ends a step's waiting closes its question. */
export function closeCallback(state: Snapshot, event: Event, decision: Decision): Decision {
  const { write } = decision;
  if (state.questions === undefined || write?.step === undefined) return decision;
  const { name, status, failure } = write.step;
  const asked = callbackOf(state, name);
  if (asked === undefined || !isOpen(asked) || isUnanswered(status)) return decision;
  const isFailed = status === 'failed' || (status === 'answered' && failure !== undefined);
  const isMoot = status === 'fenced' || status === 'skipped';
  const closedBy = isMoot ? 'moot' : event.type === 'callback' ? 'answer' : 'deadline';
  const outcome = isMoot ? undefined : isFailed ? 'failed' : 'done';
  const question = closed(asked, { closedBy, outcome }, event);
  return { ...decision, write: { ...write, question } };
}
