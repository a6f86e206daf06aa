/** Webhook: the answer comes from outside, minutes or days later. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Bill = z.object({ amount: z.number() });

/** The service calls `POST /callbacks/{replyTo}/complete` once the customer has paid. */
export const openCheckout = agent('open-checkout', {
  input: z.object({ amount: z.number(), replyTo: z.string() }),
  output: z.object({ url: z.string() }),
  effect: 'idempotent',
  undo: 'none',
});

export const checkout = workflow('checkout', { input: Bill, within: '4d' }, (w) => {
  const paid = w.callback('paid', { output: z.object({ paymentId: z.string() }), within: '3d' });
  w.step('open', openCheckout, { amount: w.input.amount, replyTo: paid.token });
  return { paymentId: paid.output.paymentId };
});
