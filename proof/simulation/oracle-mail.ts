/**
 * Judges messages to executions by a book of accepted messages, with true times, and of their use.
 *
 * Owns: M1 accepted messages exist; M2 an id counts once; M3 each message is taken once, in order, with its
 * body, also by a round that it makes too large to begin; M6 messages in time are taken, later ones are not;
 * M7 a step that fails because of a message names it; L1 without faults, no message is left while a step
 * waits for it. Does not own: when a step's time is over (`oracle-turns.ts`, `oracle-times.ts`).
 */

import type { ChildStep, Plan, ReceiveStep } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { ExecutionMessage, Mailbox } from '../../lib/core/records/mailbox.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { RoundsSoFar } from '../../lib/core/records/children.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { WriteResult } from '../../lib/core/ports.ts';
import type { MailboxTable } from '../../lib/memory/mailboxes.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';
import { messageIn, roundAwaited, roundOverAt, waitsSince } from './awaited-rounds.ts';
import type { KindCounts } from './kinds.ts';
import { bodyOf, type Booked, firsts, isTooLarge, isWaiting, type Taking } from './mail-book.ts';
import { overTimeAt, turnOf } from './oracle-turns.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';
import type { Process } from './process.ts';

interface Eyes {
  readonly table: MemoryTable;
  readonly kinds: KindCounts;
  readonly now: () => number;
  readonly violate: (about: string, problem: string) => void;
  readonly planOf: (id: string) => Plan | undefined;
  /** Called after a sender's message is written, when it may die. */
  readonly accepted: (by: Process) => void;
}

/** The judged parts of a step's write. */
interface MailWrite {
  readonly plan: Plan;
  readonly before: Snapshot;
  readonly write: Write;
}

/** Two ticks of a supervisor and a sweep, beyond the times of a mailbox and of a sender. */
const LOOKED_AFTER_MS = 150_000;

/** Whether a value in a round's input is lost, so that the step fails before the round begins. */
const isRestLost = (from: RoundsSoFar | undefined, to: RoundsSoFar | undefined): boolean =>
  to?.inputAt !== undefined && to.inputAt.id === from?.inputAt?.id;

/** Whether the round's input is stored outside the table, where it may be larger. */
const keepsApart = (to: RoundsSoFar | undefined): boolean => to?.inputAt !== undefined;

export class OracleMail {
  readonly #eyes: Eyes;
  /** The accepted messages, by execution and life. */
  readonly #books = new Map<string, Booked[]>();
  readonly #left = new Set<string>();
  #ids = 0;

  constructor(eyes: Eyes) {
    this.#eyes = eyes;
  }

  get table(): MailboxTable {
    return this.#eyes.table.mailboxes;
  }

  newId(): string {
    this.#ids += 1;
    return `m${this.#ids}`;
  }

  countOf(id: string, life: string): number {
    return this.#bookOf(id, life).length;
  }

  latestOf(id: string, life: string): Booked | undefined {
    return this.#bookOf(id, life).at(-1);
  }

  /** Executes a sender's request at the table, and judges it. */
  accept(mailbox: Mailbox, message: ExecutionMessage, by: Process): WriteResult {
    const { kinds, now, planOf, table } = this.#eyes;
    const { executionId: id, life, order, name, at } = message;
    const before = this.table.readMailbox(id, life);
    const isAgain = before?.writeId === mailbox.writeId;
    const result = this.table.accept(mailbox, message);
    if (result !== 'written' || isAgain) return result;
    const book = this.#bookOf(id, life);
    if (book.some((one) => one.id === message.id)) this.#violate(id, `M2 '${message.id}' counts twice`);
    if (order !== book.length + 1) this.#violate(id, `M3 message ${book.length + 1} has the order ${order}`);
    const entries = mailbox.entries.map((one) => one.id).join();
    const open = [...book.filter(({ taken }) => taken === undefined).map((one) => one.id), message.id].join();
    if (entries !== open) this.#violate(id, `M3 the mailbox has ${entries} and not ${open}`);
    book.push({ id: message.id, name, order, at, trueAt: now(), by });
    kinds.messageSent += 1;
    this.#eyes.accepted(by);
    const state = table.read(id);
    const plan = planOf(id);
    if (state?.execution.life !== life || plan === undefined) return result;
    if (state.execution.status === 'paused') kinds.messageInPause += 1;
    if (!plan.steps.some((step) => isWaiting(step, name, state))) kinds.messageEarly += 1;
    return result;
  }

  /** Checks an answer that a sender got. */
  answered(
    { id, order }: { readonly id: string; readonly order: number },
    {
      id: executionId,
      life,
      messageId,
    }: { readonly id: string; readonly life: string; readonly messageId: string },
  ): void {
    // It may have been accepted for another life of the id.
    const all = [...this.#books]
      .filter(([key]) => key.startsWith(`${executionId} `))
      .flatMap(([, book]) => book);
    const known = all.find((one) => one.id === messageId && one.order === order);
    if (id !== messageId || known === undefined)
      this.#violate(executionId, `M1 message ${order} of ${life} was accepted, and is not there`);
  }

  /** Executes a write, and judges it. */
  judged(write: Write, execute: () => WriteResult): WriteResult {
    const { table, planOf } = this.#eyes;
    const { executionId: id, step } = write;
    const before = table.read(id);
    const result = execute();
    const plan = planOf(id);
    if (result !== 'written' || before === undefined || plan === undefined) return result;
    if (step === undefined || step.life !== before.execution.life) return result;
    if (step.writeId === before.steps[step.name]?.writeId) return result;
    const problems: string[] = [];
    this.#judge(problems, { plan, before, write });
    for (const problem of problems) this.#violate(id, problem);
    return result;
  }

  #judge(problems: string[], mail: MailWrite): void {
    const { plan, before, write } = mail;
    const step = plan.steps.find(({ name }) => name === write.step?.name);
    const takes = step?.kind === 'receive' || roundAwaited(step, before) !== undefined;
    if (write.taken !== undefined && (!takes || write.execution === undefined))
      problems.push('M3 a message is taken by no step, or without the execution');
    if (step?.kind === 'child' && write.step !== undefined)
      this.#judgeRound(problems, mail, step, write.step);
    if (step?.kind !== 'receive' || write.step === undefined) return;
    const was = before.steps[step.name];
    const is = write.step;
    if (is.status === was?.status) return;
    if (write.taken !== undefined) {
      if (is.status !== 'done') problems.push(`M3 '${step.name}' took a message and is ${is.status}`);
      const by = { name: step.name, message: step.message, overAt: this.#overAt(step, before) };
      return this.#judgeTaken(problems, mail, by, { body: is.output, received: is.received });
    }
    if (is.received !== undefined) problems.push(`M3 '${step.name}' has a message that nothing took`);
    const isOver = is.status === 'done' || (is.status === 'failed' && is.failure?.code === 'no-message');
    const by = { name: step.name, message: step.message, overAt: this.#overAt(step, before) };
    if (isOver) this.#judgeOver(problems, mail, by);
    if (is.status === 'done' && (is.output !== null || step.otherwise !== 'continue'))
      problems.push(`M6 '${step.name}' is done without a message`);
  }

  /**
   * Judges a round: it takes its message, or begins or fails without one; a later try has the same message.
   */
  #judgeRound(problems: string[], mail: MailWrite, step: ChildStep, is: Step): void {
    const { before, write } = mail;
    const { kinds } = this.#eyes;
    const was = before.steps[step.name]?.children;
    const [from, to] = [was?.rounds, is.children?.rounds];
    const awaited = roundAwaited(step, before);
    const isSame = from !== undefined && to?.done === from.done;
    if (
      isSame &&
      from.received !== undefined &&
      (to.received?.id !== from.received.id || to.awaits !== undefined)
    )
      problems.push(`M3 a round of '${step.name}' loses message '${from.received.id}'`);
    if (isSame && from.received !== undefined && is.children?.try !== was?.try) kinds.messageKept += 1;
    if (awaited === undefined) {
      const isTaken = to?.received !== undefined && to.received.id !== from?.received?.id;
      return isTaken
        ? void problems.push(`M3 a round of '${step.name}' has a message that it did not wait for`)
        : undefined;
    }
    const overAt = roundOverAt(step.name, before);
    const by = { name: step.name, message: awaited.name, overAt };
    const body = messageIn(to?.input);
    if (
      (is.children?.try ?? 1) !== (was?.try ?? 1) ||
      (is.children?.started ?? 0) > 0 ||
      to?.done !== from?.done
    )
      if (is.status === 'running')
        problems.push(`M3 a round of '${step.name}' begins before it has its message`);
    if (write.taken !== undefined) {
      if (is.failure?.code === 'input-too-large') return this.#judgeTooLarge(problems, mail, by, is);
      kinds.messageInRound += 1;
      if (to?.awaits !== undefined)
        problems.push(`M3 a round of '${step.name}' still waits for what it took`);
      const { id } = write.taken.message;
      if (isTooLarge(from?.input, id) && !keepsApart(to))
        problems.push(`M3 a round of '${step.name}' begins with '${id}', which is too large`);
      const taken = isRestLost(from, to) ? bodyOf(id) : body;
      return this.#judgeTaken(problems, mail, by, { body: taken, received: to?.received });
    }
    if (to?.received !== undefined)
      problems.push(`M3 a round of '${step.name}' has a message that nothing took`);
    const known = before.steps[step.name]?.failure?.code;
    const isUnfit =
      is.status === 'failed' && is.failure?.code === 'input-too-large' && known !== is.failure.code;
    if (isUnfit && !isTooLarge(from?.input))
      problems.push(`M3 '${step.name}' fails because of a message, and does not use it up`);
    const isWithout = is.status === 'running' && to?.awaits === undefined;
    if (!isWithout && is.failure?.code !== 'no-message') return;
    kinds.roundWithoutMessage += 1;
    this.#judgeOver(problems, mail, by);
    const isNull = body === null || isRestLost(from, to);
    if (isWithout && (!isNull || awaited.otherwise !== 'continue'))
      problems.push(`M6 a round of '${step.name}' begins without a message`);
  }

  /** Checks that a step which fails because of a message has used it up, names it, and had no room for it. */
  #judgeTooLarge(problems: string[], mail: MailWrite, by: Taking, is: Step): void {
    const { before, write } = mail;
    const { id = '' } = write.taken?.message ?? {};
    const rounds = is.children?.rounds;
    this.#eyes.kinds.roundTooLarge += 1;
    if (!isTooLarge(before.steps[by.name]?.children?.rounds?.input, id))
      problems.push(`M3 a round of '${by.name}' has room for '${id}', and fails because of it`);
    if (is.status !== 'failed' || is.failure?.message.includes(`'${id}'`) !== true)
      problems.push(`M7 '${by.name}' is ${is.status}, and does not say that '${id}' is too large`);
    if (rounds?.received !== undefined || rounds?.awaits === undefined)
      problems.push(`M3 a round of '${by.name}' begins with '${id}' that it has no room for`);
    this.#judgeTaken(problems, mail, by);
  }

  /** @param is what the step's record says of the message; absent for a message that was only used up */
  #judgeTaken(
    problems: string[],
    { before, write }: MailWrite,
    step: Taking,
    is?: { readonly body: unknown; readonly received: Step['received'] },
  ): void {
    const { kinds } = this.#eyes;
    const { id, life, status, epoch } = before.execution;
    const { mailbox, message } = write.taken as NonNullable<Write['taken']>;
    const book = this.#bookOf(id, life);
    const known = book.find((one) => one.id === message.id);
    const open = book.filter(({ taken }) => taken === undefined);
    if (known === undefined) return void problems.push(`M3 '${message.id}' was never accepted`);
    if (known.taken !== undefined) problems.push(`M3 '${message.id}' is taken by '${known.taken}', too`);
    const first = open.find(({ name }) => name === step.message);
    if (first !== undefined && first.order < known.order)
      problems.push(`M3 '${message.id}' is taken before '${first.id}'`);
    if (known.name !== step.message) problems.push(`M3 '${step.name}' takes a message '${known.name}'`);
    if (is !== undefined && JSON.stringify(is.body) !== JSON.stringify(bodyOf(message.id)))
      problems.push(`M3 '${step.name}' has another body than '${message.id}'`);
    if ((is !== undefined && is.received?.id !== message.id) || message.body !== undefined)
      problems.push(`M3 the records do not say who took '${message.id}'`);
    if (status !== 'running' && status !== 'waiting') problems.push(`M6 a message is taken while ${status}`);
    const left = mailbox.entries.map((one) => one.id).join();
    const expected = open
      .filter((one) => one !== known)
      .map((one) => one.id)
      .join();
    if (left !== expected) problems.push(`M3 the mailbox has ${left} and not ${expected}`);
    const { overAt } = step;
    if (overAt !== undefined && known.trueAt > overAt + CLOCKS_DIFFER_MS)
      problems.push(`M6 '${message.id}' came ${known.trueAt - overAt} ms after the time of '${step.name}'`);
    known.taken = step.name;
    kinds.messageTaken += 1;
    if (known.by.dead) kinds.messageOfDead += 1;
    if (epoch > 1) kinds.messageAfterRetry += 1;
    if (overAt !== undefined && this.#eyes.now() > overAt + CLOCKS_DIFFER_MS) kinds.messageSeenLate += 1;
  }

  /** Checks that a step that ends without a message had none in time. */
  #judgeOver(problems: string[], { before }: MailWrite, step: Taking): void {
    const { kinds } = this.#eyes;
    const { id, life } = before.execution;
    kinds.messageMissed += 1;
    const { overAt } = step;
    const left = this.#bookOf(id, life).filter((one) => one.name === step.message && one.taken === undefined);
    const [first] = left;
    if (overAt === undefined || first === undefined) return;
    kinds.messageLeft += 1;
    const isInTime = (one: Booked): boolean => one.trueAt < overAt - CLOCKS_DIFFER_MS && one.at <= overAt;
    if (left.some(isInTime))
      problems.push(
        `M6 '${step.name}' is over although '${first.id}' came ${overAt - first.trueAt} ms before`,
      );
  }

  #overAt(step: ReceiveStep, state: Snapshot): number | undefined {
    const turnAt = turnOf(step, state);
    // Unknown if the record has only the sum of earlier pauses.
    if (turnAt === undefined || state.execution.earlierPauses !== undefined) return undefined;
    return overTimeAt(step.name, step.withinMs, turnAt, state);
  }

  /** After all faults, checks that no message is left while a step waits for it. */
  look(healedAt: number): void {
    const { now, planOf, table, violate } = this.#eyes;
    for (const [key, book] of this.#books) {
      const [id = '', life = ''] = key.split(' ');
      const state = table.read(id);
      const plan = planOf(id);
      if (state === undefined || plan === undefined || state.execution.life !== life) continue;
      const { status, pauses } = state.execution;
      if (status !== 'running' && status !== 'waiting') continue;
      for (const one of firsts(book)) {
        // After a retry, a round takes its message once its execution has its place again (seed 22009).
        const step = plan.steps.find(
          (other) => isWaiting(other, one.name, state) && turnOf(other, state) !== undefined,
        );
        if (step === undefined || this.#left.has(one.id)) continue;
        const resumedAt = pauses?.at(-1)?.endedAt ?? 0;
        const sinceAt = step.kind === 'child' ? waitsSince(step.name, state) : 0;
        const from = Math.max(sinceAt, turnOf(step, state) ?? 0, one.trueAt, healedAt, resumedAt);
        const overAt =
          (step.kind === 'receive' ? this.#overAt(step, state) : roundOverAt(step.name, state)) ?? 0;
        if (now() - from < LOOKED_AFTER_MS || one.at > overAt) continue;
        this.#left.add(one.id);
        violate(id, `L1 '${step.name}' has waited ${now() - from} ms beside message '${one.id}'`);
      }
    }
  }

  #bookOf(id: string, life: string): Booked[] {
    const key = `${id} ${life}`;
    const book = this.#books.get(key) ?? [];
    this.#books.set(key, book);
    return book;
  }

  #violate(about: string, problem: string): void {
    this.#eyes.violate(about, problem);
  }
}
