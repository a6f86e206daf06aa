/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflows.
 *
 * The limits are short so that you can see a recovery on a laptop. In production, start with a lease of 30 s
 * and a `lateEffectWithin` equal to the external service's own request timeout.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

export const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '20s', lateEffectWithin: '1s' } as const;

export const Id = z.string().check(z.minLength(1));
/** An amount in whole cents. */
export const Amount = z.int().check(z.positive());
export const Items = z
  .array(z.object({ sku: Id, quantity: z.int().check(z.positive()) }))
  .check(z.minLength(1));

const AuthoriseInput = z.object({ orderId: Id, amount: Amount });
/** Nothing is authorised for an order that is already paid. */
const AuthoriseOutput = z.object({ authorisationId: z.optional(Id) });
const ChargeInput = z.object({ orderId: Id, amount: Amount, authorisationId: z.optional(Id) });
const ChargeOutput = z.object({ chargeId: Id });
const ReserveInput = z.object({ orderId: Id, items: Items });
const ReserveOutput = z.object({ reservationId: Id });
const ShipInput = z.object({ orderId: Id, reservationId: Id, address: Id });
const ShipOutput = z.object({ shipmentId: Id, trackingNumber: Id });
/** The order is on its way, or it is not fulfilled for a reason. */
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

/** The payment service charges once per request, whatever its reference: an unknown outcome needs a probe. */
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

/** The warehouse reserves once per key, so after an unknown outcome the step is simply tried again. */
export const reserveStock = agent('reserve-stock', {
  input: ReserveInput,
  output: ReserveOutput,
  effect: 'idempotent',
  ...LIMITS,
});

/** The carrier books once per request as well, but can be queried by reference. */
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
