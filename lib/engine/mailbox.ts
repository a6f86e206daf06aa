/**
 * The mailbox of an execution, read for a decision that asks for it, and its wake time.
 *
 * Owns: reading the mailbox, and when its wake time is removed. Does not own: which message is taken, and the
 * write that takes it (`core/waiting/waits.ts`).
 *
 * S12 a process that evaluates an execution because of its mailbox has read or written the mailbox before the
 * execution's own records. If a step waited for one of the messages then, the evaluation took it; a process
 * that opens such a step later reads the mailbox after that. So the wake time is no longer needed, and is
 * removed, provided the mailbox is still the one that was read.
 */

import { messagesOf, type Plan } from '../core/plan/plan.ts';
import type { Ports } from '../core/ports.ts';
import type { Mailbox } from '../core/records/mailbox.ts';
import type { Snapshot } from '../core/records/snapshot.ts';

/**
 * Adds the mailbox to the state, or the message in it that the decision asks for.
 * @throws the port's error
 */
export async function withMailbox(ports: Ports, state: Snapshot, id?: string): Promise<Snapshot> {
  const { id: executionId, life } = state.execution;
  const { mailboxes } = ports;
  if (id === undefined || state.mailbox === undefined) {
    const mailbox = await mailboxes?.readMailbox(executionId, life);
    return { ...state, mailbox: { ...(mailbox === undefined ? {} : { mailbox }), messages: {} } };
  }
  const read = (await mailboxes?.readMessage(executionId, life, id)) ?? null;
  if (read === null) ports.log.note({ what: 'message-lost', executionId });
  // Another process has taken the message, so a write on this mailbox conflicts.
  const message = read?.taken === undefined ? read : null;
  return { ...state, mailbox: { ...state.mailbox, messages: { ...state.mailbox.messages, [id]: message } } };
}

/** Adds the mailbox if steps of the plan take messages. @throws the port's error */
export const withOwnMailbox = async (ports: Ports, plan: Plan, state: Snapshot): Promise<Snapshot> =>
  messagesOf(plan).length === 0 ? state : withMailbox(ports, state);

/** Removes the mailbox's wake time. A later acceptance has its own. @throws the port's error */
export async function withoutWakeTime(ports: Ports, mailbox: Mailbox): Promise<void> {
  const { wakeAt, ...kept } = mailbox;
  if (wakeAt === undefined) return;
  await ports.mailboxes?.writeMailbox({
    ...kept,
    version: mailbox.version + 1,
    writeId: ports.random.id(),
  });
}
