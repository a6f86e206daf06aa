/** REST services: an agent can be a declared request, without a line of code. */

import { httpAgent, secret, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Order = z.object({ orderId: z.string(), amount: z.number() });
const auth = secret('SHOP_TOKEN', { parameter: '/shop/token' });
/** `SHOP_URL` is set in `agentSettings`; each request below goes to a path of it. */
const url = { env: 'SHOP_URL' };

/** The service recognises a repeated request by this header. */
export const reserve = httpAgent('reserve', {
  input: z.object({ orderId: z.string() }),
  output: z.object({ reservationId: z.string() }),
  effect: 'idempotent',
  idempotencyKey: 'idempotency-key',
  auth,
  execute: ({ input }) => ({
    method: 'PUT',
    url,
    path: ['reservations', input.orderId],
    outcomes: { 409: 'permanent' }, // sold out
    output: ({ body }) => ({ reservationId: body('reservation', 'id') }),
  }),
  undo: ({ input }) => ({ method: 'DELETE', url, path: ['reservations', input.orderId] }),
});

/** The service charges once per request, including repeats, and can be asked what it did. */
export const charge = httpAgent('charge', {
  input: Order,
  output: z.object({ chargeId: z.string() }),
  effect: 'probed',
  auth,
  execute: ({ input, idempotencyKey }) => ({
    method: 'POST',
    url,
    path: ['charges'],
    body: { reference: idempotencyKey, amount: input.amount },
    output: ({ body }) => ({ chargeId: body('id') }),
  }),
  probe: ({ idempotencyKey }) => ({
    method: 'GET',
    url,
    path: ['charges', idempotencyKey],
    output: ({ body }) => ({ chargeId: body('id') }),
  }),
  undo: ({ idempotencyKey }) => ({ method: 'DELETE', url, path: ['charges', idempotencyKey] }),
});

export const buying = workflow('buying', { input: Order, within: '1h' }, (w) => {
  const reserved = w.step('reserve', reserve, { orderId: w.input.orderId });
  const paid = w.step('charge', charge, w.input, { after: [reserved] });
  return { chargeId: paid.output.chargeId };
});
