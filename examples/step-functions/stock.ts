/** inventory-management-sam: an event of a new order reserves stock; the result is announced. */

import { agent, not, onEvent, publish, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Order = z.object({ orderId: z.string(), productId: z.string(), quantity: z.int() });
const Reserved = z.object({ isReserved: z.boolean() });
/** Checks, subtracts and writes the reservation in one transaction, whose token is the idempotency key. */
const reserve = agent('reserve-stock', { input: Order, output: Reserved, effect: 'idempotent' });
const about = (detailType: string) => {
  const to = { bus: 'inventory', source: 'com.inventory', detailType };
  return publish(detailType, { input: Order, effect: 'idempotent', to });
};
const to = { topic: { env: 'STOCK_TOPIC' } };
const mail = publish('stock-mail', { input: Order, effect: 'idempotent', to });

export const stock = workflow('stock', { input: Order, within: '1h' }, (w) => {
  const { isReserved } = w.step('reserve', reserve, w.input).output;
  w.step('reserved', about('stock-reserved'), w.input, { when: isReserved });
  const when = not(isReserved);
  w.step('purchase', about('create-purchase-order'), w.input, { when });
  w.step('unavailable', about('stock-unavailable'), w.input, { when });
  w.step('mail', mail, w.input, { when });
});
export const ordered = onEvent(stock, {
  bus: 'inventory',
  pattern: { source: ['com.orders'], detailType: ['new-order-received'] },
  input: '$.detail',
  idempotencyKey: '$.detail.orderId',
});
