/** Mailboxes and messages in memory, under the real conditions. */

import type { Due, Mailboxes, WriteResult } from '../core/ports.ts';
import type { FoundMail } from '../core/supervision/audit.ts';
import type { ExecutionMessage, Mailbox, TakenMessage } from '../core/records/mailbox.ts';

const keyOf = (executionId: string, life: string, id = ''): string => JSON.stringify([executionId, life, id]);

const mail = (of: Omit<FoundMail, 'kind'>): FoundMail => ({ kind: 'mail', ...of });

export class MailboxTable {
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #messages = new Map<string, ExecutionMessage>();
  /** Keys of mailboxes that have a wake time. */
  readonly #waking = new Set<string>();

  readMailbox(executionId: string, life: string): Mailbox | undefined {
    return this.#mailboxes.get(keyOf(executionId, life));
  }

  readMessage(executionId: string, life: string, id: string): ExecutionMessage | undefined {
    return this.#messages.get(keyOf(executionId, life, id));
  }

  accept(mailbox: Mailbox, message: ExecutionMessage): WriteResult {
    const { executionId, life, id } = message;
    if (this.readMailbox(executionId, life)?.writeId === mailbox.writeId) return 'written';
    const isKnown = this.readMessage(executionId, life, id) !== undefined;
    if (isKnown || !this.#follows(mailbox)) return 'conflict';
    this.#put(mailbox);
    this.#messages.set(keyOf(executionId, life, id), message);
    return 'written';
  }

  writeMailbox(mailbox: Mailbox): WriteResult {
    if (!this.#follows(mailbox)) return 'conflict';
    this.#put(mailbox);
    return 'written';
  }

  canTake({ mailbox, message }: TakenMessage): boolean {
    const stored = this.readMessage(message.executionId, message.life, message.id);
    const isAgain = this.readMailbox(mailbox.executionId, mailbox.life)?.writeId === mailbox.writeId;
    return isAgain || (this.#follows(mailbox) && stored !== undefined && stored.taken === undefined);
  }

  take({ mailbox, message }: TakenMessage): void {
    this.#put(mailbox);
    this.#messages.set(keyOf(message.executionId, message.life, message.id), message);
  }

  /** Returns the mailboxes that a supervisor finds. */
  due(): Due[] {
    return [...this.#waking].flatMap((key) => {
      const { executionId, life, wakeAt } = this.#mailboxes.get(key) ?? {};
      return executionId === undefined || life === undefined || wakeAt === undefined
        ? []
        : [{ executionId, wakeAt, mailbox: true, life } as const];
    });
  }

  /** Returns all messages of an execution that were accepted, in order. */
  messagesOf(executionId: string): ExecutionMessage[] {
    return [...this.#messages.values()]
      .filter((message) => message.executionId === executionId)
      .sort((one, other) => one.order - other.order);
  }

  /** Returns mailboxes and messages in the form in which the audit finds them. */
  found(executionId?: string): FoundMail[] {
    const isAsked = (one: { readonly executionId: string }): boolean =>
      executionId === undefined || one.executionId === executionId;
    const boxes = [...this.#mailboxes.values()].filter(isAsked);
    const messages = [...this.#messages.values()].filter(isAsked);
    return [
      ...boxes.map(({ executionId: of, life, version, writeId }) =>
        mail({ executionId: of, life, version, writeId }),
      ),
      ...messages.map(({ executionId: of, life, id: message }) =>
        mail({ executionId: of, life, message, version: 0, writeId: '' }),
      ),
    ];
  }

  remove({ executionId, life, message, writeId }: FoundMail): 'removed' | 'conflict' {
    const key = keyOf(executionId, life, message);
    if (message !== undefined) return this.#messages.delete(key) ? 'removed' : 'conflict';
    if (this.#mailboxes.get(key)?.writeId !== writeId) return 'conflict';
    this.#mailboxes.delete(key);
    this.#waking.delete(key);
    return 'removed';
  }

  #follows(mailbox: Mailbox): boolean {
    const stored = this.readMailbox(mailbox.executionId, mailbox.life);
    return (stored?.version ?? 0) === mailbox.version - 1 || stored?.writeId === mailbox.writeId;
  }

  #put(mailbox: Mailbox): void {
    const key = keyOf(mailbox.executionId, mailbox.life);
    this.#mailboxes.set(key, mailbox);
    if (mailbox.wakeAt === undefined) this.#waking.delete(key);
    else this.#waking.add(key);
  }
}

export const memoryMailboxes = (table: MailboxTable): Mailboxes => ({
  readMailbox: async (executionId, life) => table.readMailbox(executionId, life),
  readMessage: async (executionId, life, id) => table.readMessage(executionId, life, id),
  accept: async (mailbox, message) => table.accept(mailbox, message),
  writeMailbox: async (mailbox) => table.writeMailbox(mailbox),
});
