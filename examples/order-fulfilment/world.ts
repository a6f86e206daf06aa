/**
 * The outside world of an order: payment, warehouse, carrier, mail.
 *
 * Owns: which services deduplicate (warehouse, mail) and which do not (payment, carrier), the content of
 * their entries, and what the payment service always refuses: two open authorisations of one order, and a
 * charge against one that is not open. Does not own: how a service works (`../world`), whether the totals are
 * right (`audit.ts`).
 *
 *   npx tsx examples/order-fulfilment/world.ts [--port 4520] [--ledger .steadfast/world.jsonl] [--with-stdin]
 */

import * as z from 'zod/mini';
import type { Deed } from '../world/deeds.ts';
import type { Entry, Ledger } from '../world/ledger.ts';
import { serveIfMain } from '../world/process.ts';

/** The subjects of mails. */
const Subject = z.enum(['on-its-way', 'not-fulfilled']);
export type MailSubject = z.infer<typeof Subject>;

export type EntryKind =
  | 'authorisation'
  | 'void'
  | 'charge'
  | 'refund'
  | 'reservation'
  | 'release'
  | 'shipment'
  | 'cancellation'
  | 'mail'
  | 'repeat'
  | 'misuse'
  | 'breach';

export interface OrderEntry extends Entry {
  readonly service: 'payment' | 'warehouse' | 'carrier' | 'mail';
  readonly kind: EntryKind;
  readonly orderId?: string;
  /** Whole cents. */
  readonly amount?: number;
  readonly subject?: MailSubject;
  /** The authorisation that a charge captures. */
  readonly authorisationId?: string;
}

const OrderId = z.optional(z.string().check(z.minLength(1)));
const Amount = z.optional(z.int().check(z.positive()));
const data = z.object({ orderId: OrderId });

const isCaptured = (ledger: Ledger, id: string): boolean =>
  ledger.entries.some((entry) => entry.kind === 'charge' && (entry as OrderEntry).authorisationId === id);

/** Authorisations of an order that hold money on the card: neither voided nor captured. */
const openOf = (ledger: Ledger, orderId: unknown): readonly Entry[] =>
  ledger
    .standing('authorisation', 'void')
    .filter((entry) => (entry as OrderEntry).orderId === orderId && !isCaptured(ledger, entry.id));

export const DEEDS: readonly Deed[] = [
  {
    service: 'payment',
    kind: 'authorisation',
    action: 'authorise',
    data: z.object({ orderId: OrderId, amount: Amount }),
    about: 'orderId',
    undo: {
      kind: 'void',
      action: 'void',
      repeats: true,
      refuses: ({ id }, ledger) => (isCaptured(ledger, id) ? `${id} is captured` : undefined),
    },
    forbids: ({ orderId }, ledger) => {
      const [open] = openOf(ledger, orderId);
      return open === undefined ? undefined : `${open.id} of the same order is open`;
    },
    shows: ({ id }, ledger) => ({ captured: isCaptured(ledger, id) }),
    declines: 402,
  },
  {
    service: 'payment',
    kind: 'charge',
    action: 'charge',
    data: z.object({ orderId: OrderId, amount: Amount, authorisationId: z.optional(z.string()) }),
    about: 'orderId',
    forbids: ({ orderId, authorisationId: id }, ledger) =>
      id === undefined || openOf(ledger, orderId).some((open) => open.id === id)
        ? undefined
        : `${String(id)} is no open authorisation of this order`,
    // The service pays every request, including repeats, so that doubles show.
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
