/** A workflow whose agents are declared, so that its folder has no files for them. */

import { httpAgent, retry, secret, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Order = z.object({ orderId: z.string() });

export const charge = httpAgent('charge-at-shop', {
  input: Order,
  output: z.object({ chargeId: z.string() }),
  effect: 'idempotent',
  idempotencyKey: 'idempotency-key',
  auth: secret('SHOP_TOKEN', { parameter: '/shop/token' }),
  execute: ({ input }) => ({
    method: 'POST',
    url: { env: 'SHOP_URL' },
    path: ['orders', input.orderId],
    output: ({ body }) => ({ chargeId: body('id') }),
  }),
  undo: 'none',
});

export const buying = workflow('buying', { input: Order, within: '1h' }, (w) => {
  const recovery = [retry(5, { delay: '10ms', maxDelay: '10ms' })];
  return w.step('charge', charge, w.input, { recovery }).output;
});
