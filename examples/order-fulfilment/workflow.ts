/**
 * Two ways to sell. Order fulfilment: charge the card and reserve the stock side by side, ship when both are
 * done, tell the customer. Preorder: authorise the card now, and charge it when the goods leave, in one
 * execution of an order at a time. An order that is not fulfilled is taken back, and the customer gets one
 * mail about that as well.
 *
 * Owns: the five agents' contracts and the workflows. Does not own: how an agent does its work (`agents/`),
 * or the services it talks to (`world.ts`).
 *
 * The limits are short so that you can see a recovery on a laptop. In production a lease of 30 s and a settle
 * time of the external service's own request timeout are a better start.
 */

import { agent, and, exists, orElse, present, retry, succeeded, workflow } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', pickup: '5s', timeout: '20s', settle: '1s' } as const;

/** Three refusals in a row are survived, a fifth one is not. */
const PATIENCE = retry(4, { first: '500ms', max: '5s' });

const Id = z.string().check(z.minLength(1));
/** Whole cents. */
const Amount = z.int().check(z.positive());
const Items = z.array(z.object({ sku: Id, quantity: z.int().check(z.positive()) })).check(z.minLength(1));

const AuthoriseInput = z.object({ orderId: Id, amount: Amount });
/** Nothing is authorised for an order that is paid already. */
const AuthoriseOutput = z.object({ authorisationId: z.optional(Id) });
const ChargeInput = z.object({ orderId: Id, amount: Amount, authorisationId: z.optional(Id) });
const ChargeOutput = z.object({ chargeId: Id });
const ReserveInput = z.object({ orderId: Id, items: Items });
const ReserveOutput = z.object({ reservationId: Id });
const ShipInput = z.object({ orderId: Id, reservationId: Id, address: Id });
const ShipOutput = z.object({ shipmentId: Id, trackingNumber: Id });
/** On its way, or not fulfilled and why. */
const NotifyInput = z.union([
  z.object({ orderId: Id, email: Id, trackingNumber: Id }),
  z.object({ orderId: Id, email: Id, reason: z.string() }),
]);
const NotifyOutput = z.object({ messageId: Id });

export type AuthoriseInput = z.infer<typeof AuthoriseInput>;
export type AuthoriseOutput = z.infer<typeof AuthoriseOutput>;
export type ChargeInput = z.infer<typeof ChargeInput>;
export type ChargeOutput = z.infer<typeof ChargeOutput>;
export type ReserveInput = z.infer<typeof ReserveInput>;
export type ReserveOutput = z.infer<typeof ReserveOutput>;
export type ShipInput = z.infer<typeof ShipInput>;
export type ShipOutput = z.infer<typeof ShipOutput>;
export type NotifyInput = z.infer<typeof NotifyInput>;
export type NotifyOutput = z.infer<typeof NotifyOutput>;

/**
 * The payment service charges once per request, whatever its reference: an unknown outcome must be asked for.
 */
export const chargeCard = agent('charge-card', {
  input: ChargeInput,
  output: ChargeOutput,
  effect: 'probed',
  ...LIMITS,
});

/** The payment service authorises once per request as well. */
export const authoriseCard = agent('authorise-card', {
  input: AuthoriseInput,
  output: AuthoriseOutput,
  effect: 'probed',
  ...LIMITS,
});

/** The warehouse reserves once per key, so an unknown outcome is simply tried again. */
export const reserveStock = agent('reserve-stock', {
  input: ReserveInput,
  output: ReserveOutput,
  effect: 'idempotent',
  ...LIMITS,
});

/** The carrier books once per request as well, but can be asked by reference. */
export const scheduleShipping = agent('schedule-shipping', {
  input: ShipInput,
  output: ShipOutput,
  effect: 'probed',
  ...LIMITS,
});

/** The mail service sends once per key; a mail that was sent cannot be unsent. */
export const notifyCustomer = agent('notify-customer', {
  input: NotifyInput,
  output: NotifyOutput,
  effect: 'idempotent',
  undo: 'none',
  ...LIMITS,
});

const Order = z.object({ orderId: Id, email: Id, address: Id, items: Items, total: Amount });
export type Order = z.infer<typeof Order>;

const UNDO = retry(10, { first: '500ms', max: '5s' });
const options = { input: Order, within: '15m', search: ['orderId'] } as const;
export const orderFulfilment = workflow('order-fulfilment', options, (w) => {
  const { orderId, email } = w.input;
  const undo = UNDO;

  const charge = w.step(
    'charge',
    chargeCard,
    { orderId, amount: w.input.total },
    { recovery: [PATIENCE], undo },
  );
  const reserve = w.step(
    'reserve',
    reserveStock,
    { orderId, items: w.input.items },
    { recovery: [PATIENCE], undo },
  );
  const ship = w.step(
    'ship',
    scheduleShipping,
    { orderId, reservationId: reserve.output.reservationId, address: w.input.address },
    { after: [charge], recovery: [PATIENCE], undo },
  );
  // A mail that is declined refunds nothing.
  w.step(
    'notify',
    notifyCustomer,
    { orderId, email, trackingNumber: ship.output.trackingNumber },
    { recovery: [PATIENCE], tolerate: true },
  );
  // When all is given back: the customer hears of it once, and not before it is true.
  w.onFailure(
    'tell-customer',
    notifyCustomer,
    { orderId, email, reason: w.failure.message },
    { recovery: [PATIENCE] },
  );
  return { chargeId: charge.output.chargeId, trackingNumber: ship.output.trackingNumber };
});

/**
 * The card is authorised now, and charged when the goods leave. An order may be started twice, by an
 * impatient customer or a shop that lost the answer: its lane lets in one execution at a time, so the card
 * never has two authorisations of it, and the later one finds that the order is paid.
 */
export const preorder = workflow(
  'preorder',
  { ...options, lane: { by: ({ orderId }) => orderId, atMost: 1, waitAtMost: '30m' } },
  (w) => {
    const { orderId, email, total: amount } = w.input;
    const how = { recovery: [PATIENCE], undo: UNDO } as const;
    const authorise = w.step('authorise', authoriseCard, { orderId, amount }, how);
    const { authorisationId } = authorise.output;
    const release = w.approval('release', {
      // Who releases it has the goods in front of them.
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
      { orderId, reservationId: present(reserve.output.reservationId), address: w.input.address },
      { ...how, when: succeeded(reserve) },
    );
    const charge = w.step(
      'charge',
      chargeCard,
      { orderId, amount, authorisationId: present(authorisationId) },
      { ...how, when: and(succeeded(ship), exists(authorisationId)) },
    );
    const trackingNumber = present(ship.output.trackingNumber);
    w.step(
      'notify',
      notifyCustomer,
      { orderId, email, trackingNumber },
      { recovery: [PATIENCE], tolerate: true, when: succeeded(ship), after: [charge] },
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
