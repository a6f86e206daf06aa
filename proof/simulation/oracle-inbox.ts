/**
 * Judges the inbox by the records: a callback is open exactly while its step waits and its execution has not
 * ended; only written changes are announced.
 *
 * Owns: these checks, independent of the rules; a book of writes and announcements. Does not own: deadlines
 * and defaults (`oracle-times.ts`), announcements of incidents (`oracle-reminders.ts`).
 */

import { isCallback, type CallbackStep, type Plan } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { asCallback, type CallbackQuestion, type QuestionChange } from '../../lib/core/records/question.ts';
import type { QuestionNews } from '../../lib/core/decisions/news.ts';
import { callbackOf, openIncidents, type Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, isForward, isTerminal } from '../../lib/core/records/state.ts';
import { applies } from '../../lib/core/step/turn.ts';
import type { KindCounts } from './kinds.ts';
import { OracleReminders } from './oracle-reminders.ts';
import { isSilence } from './oracle-times.ts';
import { turnOf } from './oracle-turns.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

/** Every write is evaluated within this time. */
const LOOKED_AFTER_MS = 60_000;

const openIn = (asked: CallbackQuestion | undefined): boolean =>
  asked !== undefined && asked.closedAt === undefined;

const callbacksIn = ({ questions = {} }: Snapshot): CallbackQuestion[] =>
  Object.values(questions).flatMap((one) => asCallback(one) ?? []);

/** Whether the step has no answer in the current epoch. */
function isUnanswered({ execution, steps }: Snapshot, name: string): boolean {
  const record = steps[name];
  if (record === undefined || record.status === 'ready' || record.status === 'waiting') return true;
  return record.epoch < execution.epoch && (record.status === 'failed' || record.status === 'fenced');
}

export class OracleInbox {
  /** Written changes that are not announced yet. */
  readonly #owed = new Map<string, QuestionChange>();
  readonly #announced = new Set<string>();
  readonly reminders = new OracleReminders();
  readonly #kinds: KindCounts;

  constructor(kinds: KindCounts) {
    this.#kinds = kinds;
  }

  /** @param now true time */
  judge(problems: string[], plan: Plan, before: Snapshot, write: Write, after: Snapshot, now: number): void {
    const callbacks = plan.steps.filter(isCallback);
    if (callbacks.length === 0) {
      if (callbacksIn(after).length > 0) problems.push('L1 a question of no callback');
      return;
    }
    for (const asked of callbacksIn(after)) {
      const name = asked.step;
      if (!openIn(asked)) continue;
      if (isTerminal(after.execution.status))
        problems.push(`L1 the question of '${name}' outlives its execution`);
      if (!isUnanswered(after, name))
        problems.push(`L1 the question of '${name}' is open, and the step is ${after.steps[name]?.status}`);
    }
    judgeStatus(problems, after);
    if (write.execution !== undefined) judgeMissing(problems, callbacks, after, now);
    const asked = asCallback(write.question);
    if (asked !== undefined) this.#judgeQuestion(problems, callbacks, before, write, asked, now);
  }

  #judgeQuestion(
    problems: string[],
    callbacks: readonly CallbackStep[],
    before: Snapshot,
    write: Write,
    asked: CallbackQuestion,
    now: number,
  ): void {
    const known = callbackOf(before, asked.step);
    const step = callbacks.find(({ name }) => name === asked.step);
    const what = `the question of '${asked.step}'`;
    if (step === undefined) return void problems.push(`L1 ${what} is of no callback`);
    if (asked.version !== (known?.version ?? 0) + 1) problems.push(`S3 ${what}: version not + 1`);
    const isOpened = openIn(asked) && !openIn(known);
    if (isOpened) {
      if (write.execution === undefined || !isForward(before.execution.status))
        problems.push(`L1 ${what} is opened while ${before.execution.status}`);
      if (asked.reminders !== 0) problems.push(`L1 ${what} begins with ${asked.reminders} reminders`);
      this.#write(before.execution, asked, 'opened', asked.openedAt);
    }
    if (!openIn(asked) && openIn(known)) {
      if (write.step?.name !== asked.step) problems.push(`L1 ${what} is closed beside its step's end`);
      if (asked.closedBy === 'answer' && write.step !== undefined && isSilence(write.step))
        problems.push(`L1 ${what} counts as answered, and nobody has answered`);
      // A reminder that was not announced before the end is dropped.
      if (known?.unannounced?.includes('reminded') === true) this.#drop(before.execution, known);
      this.#write(before.execution, asked, 'closed', asked.closedAt ?? 0);
    }
    if (!isOpened && known !== undefined && asked.reminders !== known.reminders)
      this.#judgeReminder(problems, step, before, known, asked, now);
  }

  #judgeReminder(
    problems: string[],
    step: CallbackStep,
    { execution }: Snapshot,
    known: CallbackQuestion,
    asked: CallbackQuestion,
    now: number,
  ): void {
    const { remindMs, withinMs } = step;
    const what = `a reminder of '${step.name}'`;
    if (remindMs === undefined) return void problems.push(`L1 ${what} that was not declared`);
    if (!openIn(known)) problems.push(`L1 ${what} after it was closed`);
    if (!isForward(execution.status)) problems.push(`L1 ${what} while ${execution.status}`);
    if (asked.reminders !== known.reminders + 1) problems.push(`L1 ${what} counts ${asked.reminders}`);
    if (asked.reminders * (remindMs - CLOCKS_DIFFER_MS) > withinMs + CLOCKS_DIFFER_MS)
      problems.push(`L1 ${what} is the ${asked.reminders}th in ${withinMs} ms`);
    const sinceMs = now - (known.remindedAt ?? known.openedAt);
    if (sinceMs < remindMs - CLOCKS_DIFFER_MS) problems.push(`L1 ${what} after ${sinceMs} ms`);
    if (now > known.deadlineAt + CLOCKS_DIFFER_MS) problems.push(`L1 ${what} after its deadline`);
    if (known.unannounced?.includes('reminded') === true) this.#drop(execution, known);
    this.#kinds.reminded += 1;
    this.#write(execution, asked, 'reminded', asked.remindedAt ?? 0);
  }

  #write({ id }: Execution, { step }: CallbackQuestion, change: QuestionChange, at: number): void {
    this.#owed.set(keyOf(id, step, change, at), change);
  }

  #drop({ id }: Execution, { step, remindedAt = 0 }: CallbackQuestion): void {
    this.#owed.delete(keyOf(id, step, 'reminded', remindedAt));
  }

  /** @param now true time. @returns the violation, if there is one */
  announce(news: QuestionNews, now: number): string | undefined {
    if (news.incident !== undefined) return this.reminders.announce(news, now);
    const { executionId, step = '', change, at } = news;
    const key = keyOf(executionId, step, change, at);
    if (!this.#owed.delete(key) && !this.#announced.has(key) && change !== 'reminded')
      return `L1 it is announced that the question of '${step}' is ${change}, and it is not`;
    this.#announced.add(key);
    return undefined;
  }

  /** Judges when everything is over. */
  judgeEnd(): string[] {
    const owed = [...this.#owed.keys()].map((key) => `L1 ${key} was never announced`);
    return [...owed, ...this.reminders.judgeEnd()];
  }
}

const keyOf = (id: string, step: string, change: QuestionChange, at: number): string =>
  `${id}/${step} ${change} at ${at}`;

/** Checks that an execution is `waiting` exactly if it has an approval or an incident open. */
function judgeStatus(problems: string[], after: Snapshot): void {
  const { status } = after.execution;
  if (!isForward(status)) return;
  const asks = callbacksIn(after).some((one) => one.kind === 'approval' && openIn(one));
  if (asks && status !== 'waiting') problems.push(`L1 an approval is open, and the execution is ${status}`);
  if (status === 'waiting' && !asks && openIncidents(after).length === 0)
    problems.push('L1 the execution waits for nobody');
}

/** Checks that, before a far wake time is set, every due callback is in the inbox. */
function judgeMissing(
  problems: string[],
  callbacks: readonly CallbackStep[],
  after: Snapshot,
  now: number,
): void {
  const { status, wakeAt = 0 } = after.execution;
  if (!isForward(status) || wakeAt <= now + LOOKED_AFTER_MS + CLOCKS_DIFFER_MS) return;
  for (const step of callbacks) {
    if (turnOf(step, after) === undefined || !applies(step, after)) continue;
    if (isUnanswered(after, step.name) && !openIn(callbackOf(after, step.name)))
      problems.push(`L1 '${step.name}' waits for an answer, and is not in the inbox`);
  }
}
