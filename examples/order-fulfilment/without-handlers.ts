/**
 * Order fulfilment without handlers: the workflow of `workflow.ts` with declared agents. Payment and
 * warehouse are REST services, the carrier is called through a function of the company, and mails go out by a
 * topic.
 *
 * Owns: the requests. Does not own: the workflow's reasons (`workflow.ts`), the services (`world.ts`). It is
 * not deployed: its agents have the names of those that are.
 */

import { eq, exists, httpAgent, invoke, not, publish, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { Amount, Id, Items, LIMITS } from './contracts.ts';

const url = { env: 'WORLD_URL' };

/** The payment service charges once per request, but finds and takes back charges by their reference. */
export const chargeCard = httpAgent('charge-card', {
  ...LIMITS,
  input: z.object({ orderId: Id, amount: Amount }),
  output: z.object({ chargeId: Id }),
  effect: 'probed',
  execute: ({ input, idempotencyKey }) => ({
    method: 'POST',
    url,
    path: ['payment', 'charges'],
    body: { reference: idempotencyKey, orderId: input.orderId, amount: input.amount },
    output: ({ body }) => ({ chargeId: body('id') }),
  }),
  probe: ({ idempotencyKey }) => ({
    method: 'GET',
    url,
    path: ['payment', 'charges'],
    query: { reference: idempotencyKey },
    outcomes: ({ body }) => [{ when: not(exists(body('charges', 0, 'id'))), is: 'notDone' }],
    output: ({ body }) => ({ chargeId: body('charges', 0, 'id') }),
  }),
  undo: ({ idempotencyKey }) => ({
    method: 'DELETE',
    url,
    path: ['payment', 'charges'],
    query: { reference: idempotencyKey },
  }),
});

/** The warehouse reserves once per key. */
export const reserveStock = httpAgent('reserve-stock', {
  ...LIMITS,
  input: z.object({ orderId: Id, items: Items }),
  output: z.object({ reservationId: Id }),
  effect: 'idempotent',
  execute: ({ input, idempotencyKey }) => ({
    method: 'POST',
    url,
    path: ['warehouse', 'reservations'],
    body: { key: idempotencyKey, orderId: input.orderId, items: input.items },
    output: ({ body }) => ({ reservationId: body('id') }),
  }),
  undo: ({ idempotencyKey }) => ({
    method: 'DELETE',
    url,
    path: ['warehouse', 'reservations'],
    query: { key: idempotencyKey },
  }),
});

/** The function books once per call, and says by its error that the carrier declines. */
export const scheduleShipping = invoke('schedule-shipping', {
  ...LIMITS,
  input: z.object({ orderId: Id, reservationId: Id, address: Id }),
  output: z.object({ shipmentId: Id, trackingNumber: Id }),
  effect: 'probed',
  execute: ({ input, idempotencyKey }) => ({
    function: { env: 'CARRIER' },
    payload: { do: 'book', reference: idempotencyKey, orderId: input.orderId, address: input.address },
    outcomes: ({ body }) => [{ when: eq(body('errorType'), 'Declined'), is: 'permanent' }],
    output: ({ body }) => ({ shipmentId: body('id'), trackingNumber: body('trackingNumber') }),
  }),
  probe: ({ idempotencyKey }) => ({
    function: { env: 'CARRIER' },
    payload: { do: 'find', reference: idempotencyKey },
    outcomes: ({ body }) => [{ when: eq(body<number>('found'), 0), is: 'notDone' }],
    output: ({ body }) => ({ shipmentId: body('id'), trackingNumber: body('trackingNumber') }),
  }),
  undo: ({ idempotencyKey }) => ({
    function: { env: 'CARRIER' },
    payload: { do: 'cancel', reference: idempotencyKey },
  }),
});

/** The mail service recognises repeated messages by their `idempotencyKey`. */
export const notifyCustomer = publish('notify-customer', {
  ...LIMITS,
  input: z.union([
    z.object({ orderId: Id, email: Id, trackingNumber: Id }),
    z.object({ orderId: Id, email: Id, reason: z.string() }),
  ]),
  effect: 'idempotent',
  to: { topic: { env: 'MAILS' } },
});

const Order = z.object({ orderId: Id, email: Id, address: Id, items: Items, total: Amount });
const PATIENCE = retry(4, { delay: '500ms', maxDelay: '5s' });

export const orderFulfilment = workflow('order-fulfilment', { input: Order, within: '15m' }, (w) => {
  const { orderId, email, address, items, total } = w.input;
  const how = { recovery: [PATIENCE], retryUndo: retry(10, { delay: '500ms', maxDelay: '5s' }) };
  const charge = w.step('charge', chargeCard, { orderId, amount: total }, how);
  const { reservationId } = w.step('reserve', reserveStock, { orderId, items }, how).output;
  const goods = { orderId, reservationId, address };
  const { trackingNumber } = w.step('ship', scheduleShipping, goods, { ...how, after: [charge] }).output;
  const mail = { recovery: [PATIENCE] };
  w.step('notify', notifyCustomer, { orderId, email, trackingNumber }, { ...mail, mayFail: true });
  w.onFailure('tell-customer', notifyCustomer, { orderId, email, reason: w.failure.message }, mail);
  return { chargeId: charge.output.chargeId, trackingNumber };
});
