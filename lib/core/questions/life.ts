/**
 * The life of a question: opened, reminded, and answered, defaulted or moot.
 *
 * Owns: the record after each change, also that a pause gives its time back, when the next reminder is due,
 * when a change is announced and how, that an execution is `waiting` while a person is asked. Does not own:
 * when a question is opened (`incident.ts`, `callback.ts`, `holds/pause.ts`), when it is
 * closed (`operators/incidents.ts`, `callback.ts`), how an event is put on the bus (`aws/event-bus.ts`).
 *
 * The event bus gets each change at least once. The change is written as unannounced, then announced, then
 * written as announced; if the process dies in between, the next evaluation announces it again. While the
 * question is open, it is announced again every `remindEvery`; without that option there is no reminder. The
 * alarm `IncidentOpen` is raised for incidents alone. If a reminder is not announced before the next one, or
 * before the question closes, it is dropped. If items of a list ask the same in one execution, one question
 * is announced; the others are `quiet`.
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

type Fields<Kept> = Omit<
  OrUndefined<Kept>,
  'life' | 'version' | 'writeId' | keyof QuestionSubject | 'openedAt' | 'reminders' | 'unannounced'
>;

/**
 * A question when it is opened.
 * @param before the same question of an earlier epoch
 */
export const opened = <Kept extends Incident | CallbackQuestion>(
  execution: Execution,
  asked: Fields<Kept>,
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

/** A field given as `undefined` is removed. */
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

/** Comes before any deadline of a question applies: a pause gives its time back. */
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

/** The time of an approval or a callback is its step's time. */
function movedSince(plan: Plan, state: Snapshot, question: Question): { ms: number; movedFor?: number } {
  if (isIncident(question)) {
    const { ms, until } = pausesSince(state.execution, question.openedAt, question.movedFor);
    return { ms, movedFor: until };
  }
  const step = graphOf(plan).step.get(question.step);
  return { ms: isCallback(step) ? timeOverAt(step, state) - question.deadlineAt : 0 };
}

/** The time of the next reminder, if it comes before the deadline. */
export const nextReminder = (
  { remindMs }: { readonly remindMs?: number },
  fromAt: number,
  deadlineAt: number,
): number | undefined =>
  remindMs !== undefined && fromAt + remindMs < deadlineAt ? fromAt + remindMs : undefined;

/** The step's own `remindEvery`, or that of its stage `askPerson`, for every question about it. */
function remindsEvery(plan: Plan, name = ''): { readonly remindMs?: number } {
  const step = graphOf(plan).step.get(name);
  return step === undefined ? {} : isCallback(step) ? step : (humanOf(step) ?? {});
}

export const humanOf = (step: PlanStep): AskPersonStage | undefined =>
  recoveryOf(step).find((stage) => stage.kind === 'askPerson');

/**
 * Writes a reminder that is due, in one transaction with the execution, so that there is none during a pause.
 * If several were missed, one is sent.
 */
export const remind: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const due = remindable(state).find(({ remindAt = Number.POSITIVE_INFINITY }) => remindAt <= event.now);
    if (due === undefined) return undefined;
    const question = questionAfter(due, event, {
      reminders: due.reminders + 1,
      remindedAt: event.now,
      remindAt: nextReminder(remindsEvery(plan, due.step), event.now, due.deadlineAt),
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

/** Approvals and callbacks are closed when an execution stops going forward, one step after the other. */
const remindable = (state: Snapshot): Question[] =>
  openQuestions(state).filter((one) => isIncident(one) || isForward(state.execution.status));

export const changed = (
  { execution: { id } }: Snapshot,
  records: { readonly execution?: Execution; readonly question: Question },
  what: string,
): Decision => writing(id, records, evaluateNext(), { what, step: records.question.step });

/**
 * Announces changes that were written and are not announced yet, one at a time. It is the last rule, and does
 * nothing if the bus has just refused the change: the execution's next act waits for no listener.
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
 * Part of every decision: an execution that goes forward is `waiting` while a person is asked, and `running`
 * otherwise. A write that opens or closes a question has the execution as well: if two writers each close one
 * of the last two, one of them conflicts, and sees the other's when it reads again.
 */
export function deriveWaiting(state: Snapshot, inputs: DecisionInputs, decision: Decision): Decision {
  const { write } = decision;
  // Nothing was ever asked.
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

/** On the way back nothing depends on the status, and the record is left as it is. */
const isOpenedOrClosed = ({ execution, questions }: Snapshot, question: Question): boolean => {
  const known = questions?.[questionKey(question)];
  return isUndecided(execution.status) && isOpen(question) !== (known !== undefined && isOpen(known));
};
