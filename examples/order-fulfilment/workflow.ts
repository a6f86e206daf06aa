/**
 * Two ways to sell. Order fulfilment: charge the card and reserve the stock in parallel, ship when both are
 * done, notify the customer. Preorder: authorise the card now, and charge it when the goods leave; one
 * execution of an order runs at a time. An order that cannot be fulfilled is undone, and the customer gets
 * one mail about that as well.
 *
 * Owns: the workflows. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`), or the services it talks to (`world.ts`).
 */

import { and, exists, orElse, required, retry, succeeded, workflow } from 'steadfast';
import * as z from 'zod/mini';
import {
  Amount,
  authoriseCard,
  chargeCard,
  notifyCustomer,
  reserveStock,
  scheduleShipping,
  Id,
  Items,
} from './contracts.ts';

export { authoriseCard, chargeCard, notifyCustomer, reserveStock, scheduleShipping };

/** Survives three refusals in a row; a fifth one fails the step. */
const PATIENCE = retry(4, { delay: '500ms', maxDelay: '5s' });

const Order = z.object({ orderId: Id, email: Id, address: Id, items: Items, total: Amount });
export type Order = z.infer<typeof Order>;

const UNDO = retry(10, { delay: '500ms', maxDelay: '5s' });
const options = { input: Order, within: '15m', tags: ['orderId'] } as const;
export const orderFulfilment = workflow('order-fulfilment', options, (w) => {
  const { orderId, email } = w.input;
  const retryUndo = UNDO;

  const charge = w.step(
    'charge',
    chargeCard,
    { orderId, amount: w.input.total },
    { recovery: [PATIENCE], retryUndo },
  );
  const reserve = w.step(
    'reserve',
    reserveStock,
    { orderId, items: w.input.items },
    { recovery: [PATIENCE], retryUndo },
  );
  const ship = w.step(
    'ship',
    scheduleShipping,
    { orderId, reservationId: reserve.output.reservationId, address: w.input.address },
    { after: [charge], recovery: [PATIENCE], retryUndo },
  );
  // A declined mail refunds nothing.
  w.step(
    'notify',
    notifyCustomer,
    { orderId, email, trackingNumber: ship.output.trackingNumber },
    { recovery: [PATIENCE], mayFail: true },
  );
  // After everything is undone: the customer gets one mail, and only once it is true.
  w.onFailure(
    'tell-customer',
    notifyCustomer,
    { orderId, email, reason: w.failure.message },
    { recovery: [PATIENCE] },
  );
  return { chargeId: charge.output.chargeId, trackingNumber: ship.output.trackingNumber };
});

/**
 * Authorises the card now, and charges it when the goods leave. An impatient customer, or a shop that lost
 * the answer, may start an order twice: its lane admits one execution at a time, so the card never has two
 * authorisations for the order, and the later execution finds the order paid.
 */
export const preorder = workflow(
  'preorder',
  { ...options, concurrency: { key: ({ orderId }) => orderId, limit: 1, waitWithin: '30m' } },
  (w) => {
    const { orderId, email, total: amount } = w.input;
    const how = { recovery: [PATIENCE], retryUndo: UNDO } as const;
    const authorise = w.step('authorise', authoriseCard, { orderId, amount }, how);
    const { authorisationId } = authorise.output;
    const release = w.approval('release', {
      // The person who releases the goods has them at hand.
      show: { orderId },
      within: '10m',
      otherwise: 'reject',
      when: exists(authorisationId),
      after: [authorise],
    });
    const goods = { orderId, items: w.input.items };
    const reserve = w.step('reserve', reserveStock, goods, { ...how, when: succeeded(release) });
    const ship = w.step(
      'ship',
      scheduleShipping,
      { orderId, reservationId: required(reserve.output.reservationId), address: w.input.address },
      { ...how, when: succeeded(reserve) },
    );
    const charge = w.step(
      'charge',
      chargeCard,
      { orderId, amount, authorisationId: required(authorisationId) },
      { ...how, when: and(succeeded(ship), exists(authorisationId)) },
    );
    const trackingNumber = required(ship.output.trackingNumber);
    w.step(
      'notify',
      notifyCustomer,
      { orderId, email, trackingNumber },
      { recovery: [PATIENCE], mayFail: true, when: succeeded(ship), after: [charge] },
    );
    w.onFailure(
      'tell-customer',
      notifyCustomer,
      { orderId, email, reason: w.failure.message },
      { recovery: [PATIENCE] },
    );
    return { trackingNumber: orElse(ship.output.trackingNumber, 'paid before') };
  },
);
