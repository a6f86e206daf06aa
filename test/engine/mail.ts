/** Workflows that take messages, and a sender that dies after its message is written. */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Mailboxes } from '../../lib/core/ports.ts';
import type { ExecutionMessage, Mailbox } from '../../lib/core/records/mailbox.ts';
import type { Json } from '../../lib/core/values/json.ts';
import { sendMessage } from '../../lib/scheduler/messages.ts';
import { anAgent, anyObject, type Harness } from './harness.ts';

export const Paid = z.object({ n: z.number() });
export const agentA = anAgent('agent-a');
export const agentB = anAgent('agent-b');

/** A step, then a message, then a step that gets the message's body. */
export const paying = (otherwise: 'fail' | 'continue' = 'fail'): Workflow =>
  workflow('paying', { input: anyObject, within: '5h' }, (w) => {
    const a = w.step('a', agentA, {});
    const paid = w.receive('paid', { message: Paid, within: '1h', otherwise, after: [a] });
    const b = w.step('b', agentB, { paid: paid.output });
    return { got: b.output };
  }) as Workflow;

/** Three messages of one name, one after the other. */
export const thrice: Workflow = workflow('thrice', { input: anyObject, within: '5h' }, (w) => {
  const one = w.receive('one', { name: 'paid', message: Paid, within: '1h' });
  const two = w.receive('two', { name: 'paid', message: Paid, within: '1h', after: [one] });
  const three = w.receive('three', { name: 'paid', message: Paid, within: '1h', after: [two] });
  return { all: [one.output.n, two.output.n, three.output.n] };
}) as Workflow;

export const sendTo = (h: Harness, executionId: string, n: number, id = `m-${n}`) =>
  sendMessage(h.scheduler, { executionId }, { name: 'paid', body: { n }, id });

export const mailboxOf = async (h: Harness, id: string): Promise<Mailbox | undefined> =>
  h.mailboxes.readMailbox(id, (await h.state(id)).execution.life);

export const messageOf = async (
  h: Harness,
  id: string,
  message: string,
): Promise<ExecutionMessage | undefined> =>
  h.mailboxes.readMessage(id, (await h.state(id)).execution.life, message);

/** When a supervisor finds the message of a dead sender. */
export const FOUND_MS = 5_000;

/** Sends a message from a process that dies between its write and its evaluation. */
export async function sendAndDie(
  h: Harness & { readonly mailboxes: Mailboxes },
  executionId: string,
  n: number,
  more: { readonly at?: number; readonly body?: Json } = {},
): Promise<void> {
  const { life } = (await h.state(executionId)).execution;
  const before = await h.mailboxes.readMailbox(executionId, life);
  const order = (before?.accepted ?? 0) + 1;
  const { at = h.clock.now(), body = { n } } = more;
  const about = { executionId, life };
  const message = { ...about, id: `m-${n}`, name: 'paid', order, at, body };
  const entry = { order, name: 'paid', id: `m-${n}`, at, bytes: 7 };
  const result = await h.mailboxes.accept(
    {
      ...about,
      version: (before?.version ?? 0) + 1,
      writeId: h.random.id(),
      entries: [...(before?.entries ?? []), entry],
      accepted: order,
      wakeAt: h.clock.now() + FOUND_MS,
    },
    message,
  );
  if (result !== 'written') throw new Error('the message was not accepted');
}
