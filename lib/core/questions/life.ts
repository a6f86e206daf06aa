/**
 * The life of a question: opened, reminded, and answered, defaulted or moot.
 *
 * Owns: the record after each change, extending deadlines by the length of a pause, when the next reminder is
 * due, when and how a change is announced, making an execution `waiting` while a person is asked. Does not
 * own: opening (`incident.ts`, `callback.ts`, `holds/pause.ts`) and closing a question
 * (`operators/incidents.ts`, `callback.ts`), putting an event on the bus (`aws/event-bus.ts`).
 *
 * The event bus gets each change at least once: it is written as unannounced, announced, then written as
 * announced. If the process dies in between, the next evaluation announces it again. An open question is
 * announced again every `remindEvery`; without that option there is no reminder. The alarm `IncidentOpen` is
 * raised for incidents alone. A reminder that is not announced before the next one, or before the question
 * closes, is dropped. If items of a list ask the same in one execution, one question is announced; the others
 * are `quiet`.
 */

import { executionAfter, type DecisionInputs, moveExecution } from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import { questionNews } from '../decisions/news.ts';
import {
  graphOf,
  type AskPersonStage,
  isCallback,
  type Plan,
  type PlanStep,
  recoveryOf,
} from '../plan/plan.ts';
import {
  type QuestionSubject,
  subjectOf,
  type CallbackQuestion,
  type Incident,
  isIncident,
  isOpen,
  type Question,
  questionKey,
} from '../records/question.ts';
import {
  hasUnannounced,
  isPersonAsked,
  openQuestions,
  type Snapshot,
  withQuestion,
} from '../records/snapshot.ts';
import { type Execution, isForward, isUndecided } from '../records/state.ts';
import { horizonMs } from '../step/lease.ts';
import type { Rule } from '../step/rule.ts';
import { pausesSince, timeOverAt } from '../step/within.ts';
import { defined, type OrUndefined } from '../values/defined.ts';

/** The fields that a question is opened with. */
export type OpenedWith<Kept> = Omit<
  OrUndefined<Kept>,
  'life' | 'version' | 'writeId' | keyof QuestionSubject | 'openedAt' | 'reminders' | 'unannounced'
>;

/**
 * A question as it is opened.
 * @param before the same question of an earlier epoch
 */
export const opened = <Kept extends Incident | CallbackQuestion>(
  execution: Execution,
  asked: OpenedWith<Kept>,
  { writeId, now }: DecisionInputs,
  before?: Kept,
): Kept =>
  defined({
    life: execution.life,
    version: (before?.version ?? 0) + 1,
    writeId,
    openedAt: now,
    reminders: 0,
    ...subjectOf(execution),
    ...asked,
    unannounced: 'quiet' in asked && asked.quiet === true ? undefined : ['opened'],
  }) as unknown as Kept;

/** Fields to change; one given as `undefined` is removed. */
type Changes = Partial<OrUndefined<Omit<Incident, 'kind' | 'otherwise'>>> & {
  readonly outcome?: CallbackQuestion['outcome'] | undefined;
};

/** The record after a write. */
export const questionAfter = <Kept extends Question>(
  question: Kept,
  { writeId }: Pick<DecisionInputs, 'writeId'>,
  changes: Changes,
): Kept => defined({ ...question, ...changes, version: question.version + 1, writeId }) as unknown as Kept;

/** The record once it is closed. A reminder that was not announced yet is dropped. */
export function closed<Kept extends Question>(
  question: Kept,
  changes: Changes & Required<Pick<Question, 'closedBy'>>,
  inputs: DecisionInputs,
): Kept {
  const isQuiet = isIncident(question) && question.quiet === true;
  const owed = (question.unannounced ?? []).filter((one) => one !== 'reminded');
  const unannounced = isQuiet ? undefined : [...owed, 'closed' as const];
  return questionAfter(question, inputs, {
    ...changes,
    closedAt: inputs.now,
    remindAt: undefined,
    unannounced,
  });
}

/** Moves deadlines by the length of a pause. Must run before any deadline is applied. */
export const moveDeadline: Rule = {
  apply: (plan, state, event) => {
    for (const question of openQuestions(state)) {
      const { ms, ...changes } = movedSince(plan, state, question);
      if (ms === 0) continue;
      const { remindAt } = question;
      const moved = questionAfter(question, event, {
        ...changes,
        deadlineAt: question.deadlineAt + ms,
        remindAt: remindAt === undefined ? undefined : remindAt + ms,
      });
      return changed(state, { question: moved }, 'question-moved');
    }
    return undefined;
  },
  says: { 'question-moved': 'the time for an answer is extended by the time of the pause' },
};

/** How far the deadline moves. An approval or a callback follows its step's time. */
function movedSince(plan: Plan, state: Snapshot, question: Question): { ms: number; movedFor?: number } {
  if (isIncident(question)) {
    const { ms, until } = pausesSince(state.execution, question.openedAt, question.movedFor);
    return { ms, movedFor: until };
  }
  const step = graphOf(plan).step.get(question.step);
  return { ms: isCallback(step) ? timeOverAt(step, state) - question.deadlineAt : 0 };
}

/**
 * The time of the next reminder, if it comes before the deadline: by the step's own `remindEvery`, or that of
 * its stage `askPerson`, for every question about it, including its undo.
 */
export function nextReminder(
  plan: Plan,
  { step: name = '', deadlineAt }: Pick<Question, 'step' | 'deadlineAt'>,
  now: number,
): number | undefined {
  const step = graphOf(plan).step.get(name);
  const { remindMs } = (isCallback(step) ? step : step && humanOf(step)) ?? {};
  return remindMs !== undefined && now + remindMs < deadlineAt ? now + remindMs : undefined;
}

export const humanOf = (step: PlanStep): AskPersonStage | undefined =>
  recoveryOf(step).find((stage) => stage.kind === 'askPerson');

/**
 * Writes a reminder that is due, in one transaction with the execution, so that none is written during a
 * pause. If several were missed, one is sent.
 */
export const remind: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const due = remindable(state).find(({ remindAt = Number.POSITIVE_INFINITY }) => remindAt <= event.now);
    if (due === undefined) return undefined;
    const question = questionAfter(due, event, {
      reminders: due.reminders + 1,
      remindedAt: event.now,
      remindAt: nextReminder(plan, due, event.now),
      // If several reminders are not announced yet, only the latest will be.
      unannounced: [...(due.unannounced ?? []).filter((one) => one !== 'reminded'), 'reminded'],
    });
    const woken = executionAfter(execution, 'set-wake-time', event, {});
    const records = { execution: woken, question };
    return changed(state, records, 'question-reminded');
  },
  dueAt: (_plan, state) =>
    remindable(state).flatMap(({ remindAt: at }) => (at === undefined ? [] : [{ at }])),
  says: { 'question-reminded': 'listeners are reminded of an open question' },
};

/**
 * The questions that may be reminded of. Approvals and callbacks are closed, one step after the other, when
 * an execution stops going forward.
 */
const remindable = (state: Snapshot): Question[] =>
  openQuestions(state).filter((one) => isIncident(one) || isForward(state.execution.status));

export const changed = (
  { execution: { id } }: Snapshot,
  records: { readonly execution?: Execution; readonly question: Question },
  what: string,
): Decision => writing(id, records, evaluateNext(), { what, step: records.question.step });

/**
 * Announces, one at a time, changes that were written and not announced yet. It is the last rule, and does
 * nothing if the bus has just refused the change: an execution never waits for those who listen to its
 * events.
 */
export const announceChange: Rule = {
  apply: (_plan, state, event) => {
    if (event.by === 'agent' && event.lostRace === true) return undefined;
    const question = Object.values(state.questions ?? {}).find(
      ({ unannounced, step = '' }) => unannounced !== undefined && event.failing?.includes(step) !== true,
    );
    const [change, ...rest] = question?.unannounced ?? [];
    if (question === undefined || change === undefined) return undefined;
    const unannounced = rest.length === 0 ? undefined : rest;
    const announced = questionAfter(question, event, { unannounced });
    return {
      ...changed(state, { question: announced }, 'question-announced'),
      announce: questionNews(state.execution, question, change),
    };
  },
  dueAt: (plan, state, { readAt }) =>
    hasUnannounced(state) ? [{ at: readAt + horizonMs(plan, state) }] : [],
  says: { 'question-announced': 'a change of a question is announced' },
};

/**
 * Part of every decision: an execution that goes forward is `waiting` while a person is asked, and otherwise
 * `running`. A write that opens or closes a question also writes the execution. So if two writers each close
 * one of the last two questions, one conflicts, and sees the other's change when it reads again.
 */
export function deriveWaiting(state: Snapshot, inputs: DecisionInputs, decision: Decision): Decision {
  const { write } = decision;
  // No question was ever asked.
  if (write === undefined || (write.question ?? state.questions) === undefined) return decision;
  const { question, execution: written } = write;
  const isMissing = written === undefined && question !== undefined && isOpenedOrClosed(state, question);
  const execution = isMissing ? executionAfter(state.execution, 'adopt', inputs, {}) : written;
  if (execution === undefined) return decision;
  const isAsked = isPersonAsked(withQuestion(state, question));
  const isDerived = !isForward(execution.status) || isAsked === (execution.status === 'waiting');
  if (isDerived && !isMissing) return decision;
  const status = isDerived ? execution.status : moveExecution(execution.status, isAsked ? 'ask' : 'resolve');
  return { ...decision, write: { ...write, execution: { ...execution, status } } };
}

/** True if the write opens or closes a question. During an undo nothing depends on this status. */
const isOpenedOrClosed = ({ execution, questions }: Snapshot, question: Question): boolean => {
  const known = questions?.[questionKey(question)];
  return isUndecided(execution.status) && isOpen(question) !== (known !== undefined && isOpen(known));
};
