/**
 * The outside world of an order: payment, warehouse, carrier, mail.
 *
 * Owns: which of them deduplicate (warehouse, mail) and which do not (payment, carrier), what an entry of
 * theirs says, and the agents' way to them. Does not own: how a service works (`../world`), whether the
 * sum of it is right (`audit.ts`).
 *
 *   npx tsx examples/order-fulfilment/world.ts [--port 4520] [--ledger .steadfast/world.jsonl] [--with-stdin]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Entry } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';

/** What a mail says. */
const Subject = z.enum(['on-its-way', 'not-fulfilled']);
export type MailSubject = z.infer<typeof Subject>;

export type EntryKind =
  | 'charge'
  | 'refund'
  | 'reservation'
  | 'release'
  | 'shipment'
  | 'cancellation'
  | 'mail'
  | 'repeat'
  | 'misuse';

export interface OrderEntry extends Entry {
  readonly service: 'payment' | 'warehouse' | 'carrier' | 'mail';
  readonly kind: EntryKind;
  readonly orderId?: string;
  /** Whole cents. */
  readonly amount?: number;
  readonly subject?: MailSubject;
}

const OrderId = z.optional(z.string().check(z.minLength(1)));
const data = z.object({ orderId: OrderId });

export const DEEDS: readonly Deed[] = [
  {
    service: 'payment',
    kind: 'charge',
    action: 'charge',
    data: z.object({ orderId: OrderId, amount: z.optional(z.int().check(z.positive())) }),
    about: 'orderId',
    // It pays as often as it is asked to: doubles must show.
    undo: { kind: 'refund', action: 'refund', repeats: true },
    declines: 402,
  },
  {
    service: 'warehouse',
    kind: 'reservation',
    action: 'reserve',
    oncePerKey: true,
    data,
    about: 'orderId',
    undo: { kind: 'release', action: 'release' },
  },
  {
    service: 'carrier',
    kind: 'shipment',
    action: 'ship',
    data,
    about: 'orderId',
    undo: { kind: 'cancellation', action: 'cancel' },
    shows: ({ id }) => ({ trackingNumber: id.replace('shipment', 'TRACK') }),
  },
  {
    service: 'mail',
    kind: 'mail',
    action: 'send',
    oncePerKey: true,
    data: z.object({ orderId: OrderId, subject: z.optional(Subject) }),
    about: 'orderId',
  },
];
export const PLACE = { deeds: DEEDS, port: 4520 } as const;

await serveIfMain(import.meta.url, PLACE);
