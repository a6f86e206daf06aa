/**
 * Mails the customer that the order is on its way, or why it is not fulfilled, through a service that sends
 * once per key.
 *
 * There is no undo: a mail cannot be unsent. That is why it is the last step, and the one that follows a
 * failure.
 */

import type { AttemptContext } from 'steadfast';
import * as z from 'zod/mini';
import { type NotifyInput, type NotifyOutput, notifyCustomer } from '../contracts.ts';
import type { MailSubject } from '../world.ts';
import { callWorld } from '../world-client.ts';

const Message = z.object({ id: z.string() });

export async function execute(ctx: AttemptContext, input: NotifyInput): Promise<NotifyOutput> {
  const { orderId, email } = input;
  const message = await callWorld(
    ctx,
    {
      method: 'POST',
      path: '/mail/mails',
      body: {
        key: ctx.idempotencyKey,
        executionId: ctx.executionId,
        orderId,
        to: email,
        ...letterOf(input),
      },
    },
    Message,
  );
  return { messageId: message.id };
}

/** The mail service's records have the subject, but not the text. */
const letterOf = (input: NotifyInput): { readonly subject: MailSubject; readonly text: string } =>
  'reason' in input
    ? { subject: 'not-fulfilled', text: `Your order ${input.orderId} is not fulfilled: ${input.reason}` }
    : { subject: 'on-its-way', text: `Your order ${input.orderId} is on its way: ${input.trackingNumber}` };

export const handler = notifyCustomer.handler({ execute });
