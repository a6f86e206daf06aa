/**
 * Tells the customer that the order is on its way, through a mail service that sends once per key.
 *
 * There is no undo: a mail cannot be unsent. That is why it is the last step.
 */

import type { AttemptContext } from 'steadfast';
import * as z from 'zod/mini';
import { type NotifyInput, type NotifyOutput, notifyCustomer } from '../workflow.ts';
import { callWorld } from '../world-client.ts';

const Message = z.object({ id: z.string() });

export async function execute(ctx: AttemptContext, input: NotifyInput): Promise<NotifyOutput> {
  const { orderId, email, trackingNumber } = input;
  const message = await callWorld(
    ctx,
    {
      method: 'POST',
      path: '/mail/messages',
      body: {
        key: ctx.effectKey,
        executionId: ctx.executionId,
        orderId,
        to: email,
        text: `Your order ${orderId} is on its way: ${trackingNumber}`,
      },
    },
    Message,
  );
  return { messageId: message.id };
}

export const handler = notifyCustomer.handler({ execute });
