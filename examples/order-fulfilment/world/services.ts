/**
 * The four services of the outside world: what each call of theirs does to the ledger.
 *
 * Owns: which services deduplicate (warehouse, mail) and which do not (payment, carrier), and the form of their
 * answers. Does not own: HTTP (`server.ts`), misbehaviour (`behaviour.ts`).
 */

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Entry, EntryKind, Ledger, NewEntry, Service } from './ledger.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A request understood: who is asked for what. Nothing is done before `perform`. */
export interface Call {
  readonly service: Service;
  readonly action: string;
  readonly reference: string;
  readonly orderId: string | undefined;
  readonly perform: () => Answer;
}

export interface ServiceRequest {
  readonly method: string;
  /** Decoded path segments: ['payment', 'charges', 'charge-7', 'refund']. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

const Text = z.string().check(z.minLength(1));
const Whose = { orderId: z.optional(Text), executionId: z.optional(Text) };
const ByReference = z.object({ reference: Text, amount: z.optional(z.int().check(z.positive())), ...Whose });
const ByKey = z.object({
  key: Text,
  subject: z.optional(z.enum(['on-its-way', 'not-fulfilled'])),
  ...Whose,
});

/**
 * @returns undefined for a path that no service has
 * @throws ZodError for a body that a service does not understand
 */
export function understand(ledger: Ledger, request: ServiceRequest): Call | undefined {
  const [service, collection, ...rest] = request.path;
  switch (`${service}/${collection}`) {
    case 'payment/charges':
      return payment(ledger, request, rest);
    case 'warehouse/reservations':
      return rest.length === 0 ? warehouse(ledger, request) : undefined;
    case 'carrier/shipments':
      return carrier(ledger, request, rest);
    case 'mail/messages':
      return rest.length === 0 ? mail(ledger, request) : undefined;
    default:
      return undefined;
  }
}

/** Charges whenever it is asked, and refunds whenever it is asked: doubles must show. */
function payment(ledger: Ledger, request: ServiceRequest, rest: readonly string[]): Call | undefined {
  const show = (charge: Entry): unknown => ({ ...charge, refunded: ledger.has('refund', charge.id) });
  const [id = '', verb] = rest;
  if (rest.length === 0) return byReference(ledger, request, 'payment', 'charge', show);
  if (request.method !== 'POST' || verb !== 'refund' || rest.length > 2) return undefined;
  return takeBack('payment', 'refund', ledger.byId('charge', id), (charge) => ({
    status: 201,
    body: ledger.append(takingBack('refund', charge)),
  }));
}

/** Books whenever it is asked; a shipment is canceled once. */
function carrier(ledger: Ledger, request: ServiceRequest, rest: readonly string[]): Call | undefined {
  const show = (shipment: Entry): unknown => ({
    ...shipment,
    trackingNumber: `TRACK-${shipment.seq}`,
    canceled: ledger.has('cancellation', shipment.id),
  });
  const [id = '', verb] = rest;
  if (rest.length === 0) return byReference(ledger, request, 'carrier', 'shipment', show);
  if (request.method !== 'POST' || verb !== 'cancel' || rest.length > 2) return undefined;
  return takeBack('carrier', 'cancel', ledger.byId('shipment', id), (shipment) => {
    if (!ledger.has('cancellation', shipment.id)) ledger.append(takingBack('cancellation', shipment));
    return { status: 200, body: show(shipment) };
  });
}

/** Reserves once per key. A key that was released is used up: a late request must not reserve again. */
function warehouse(ledger: Ledger, request: ServiceRequest): Call | undefined {
  if (request.method === 'DELETE') {
    const key = z.parse(Text, request.query.get('key'));
    const [reservation] = ledger.find('reservation', key);
    const held = reservation !== undefined && !ledger.has('release', reservation.id);
    return {
      service: 'warehouse',
      action: 'release',
      reference: key,
      orderId: reservation?.orderId,
      perform: () => {
        if (held) ledger.append(takingBack('release', reservation));
        return { status: 200, body: { released: held } };
      },
    };
  }
  return oncePerKey(ledger, request, 'warehouse', 'reserve', 'reservation', (reservation) =>
    ledger.has('release', reservation.id)
      ? refuse(409, 'the reservation under this key was released')
      : { status: 200, body: reservation },
  );
}

/** Sends once per key. */
function mail(ledger: Ledger, request: ServiceRequest): Call | undefined {
  return oncePerKey(ledger, request, 'mail', 'send', 'mail', (sent) => ({ status: 200, body: sent }));
}

/** A service that does not deduplicate: POST does it again, GET lists what was done. */
function byReference(
  ledger: Ledger,
  request: ServiceRequest,
  service: 'payment' | 'carrier',
  kind: 'charge' | 'shipment',
  show: (entry: Entry) => unknown,
): Call | undefined {
  if (request.method === 'GET') {
    const reference = z.parse(Text, request.query.get('reference'));
    const [first] = ledger.find(kind, reference);
    return {
      service,
      action: 'lookup',
      reference,
      orderId: first?.orderId,
      perform: () => ({ status: 200, body: { [`${kind}s`]: ledger.find(kind, reference).map(show) } }),
    };
  }
  if (request.method !== 'POST') return undefined;
  const input = z.parse(ByReference, request.body);
  return {
    service,
    action: kind === 'charge' ? 'charge' : 'ship',
    reference: input.reference,
    orderId: input.orderId,
    perform: () => ({ status: 201, body: show(ledger.append(compact({ service, kind, ...input }))) }),
  };
}

/**
 * A service that deduplicates: the first POST under a key does it, every other one is answered from memory, and refused if
 * it asks for something else.
 */
function oncePerKey(
  ledger: Ledger,
  request: ServiceRequest,
  service: 'warehouse' | 'mail',
  action: string,
  kind: 'reservation' | 'mail',
  again: (entry: Entry) => Answer,
): Call | undefined {
  if (request.method !== 'POST') return undefined;
  const { key, ...whose } = z.parse(ByKey, request.body);
  return {
    service,
    action,
    reference: key,
    orderId: whose.orderId,
    perform: () => {
      const [known] = ledger.find(kind, key);
      const parameters = createHash('sha256').update(JSON.stringify(request.body)).digest('hex').slice(0, 12);
      const entry = { service, reference: key, parameters, ...whose };
      if (known === undefined) return { status: 201, body: ledger.append(compact({ ...entry, kind })) };
      const isSame = known.parameters === parameters;
      ledger.append(compact({ ...entry, kind: isSame ? 'repeat' : 'misuse', of: known.id }));
      return isSame ? again(known) : refuse(422, 'this key stands for a request with other parameters');
    },
  };
}

function takeBack(
  service: Service,
  action: string,
  entry: Entry | undefined,
  perform: (entry: Entry) => Answer,
): Call {
  return {
    service,
    action,
    reference: entry?.reference ?? '',
    orderId: entry?.orderId,
    perform: () => (entry === undefined ? refuse(404, 'there is no such entry') : perform(entry)),
  };
}

export const refuse = (status: number, message: string): Answer => ({ status, body: { error: { message } } });

function takingBack(kind: EntryKind, entry: Entry): NewEntry {
  const { service, reference, orderId, executionId, amount } = entry;
  return compact({ service, kind, reference, orderId, executionId, amount, of: entry.id });
}

type Loose<T> = { readonly [Key in keyof T]: T[Key] | undefined };

/** Leaves absent what is absent, as in the file. */
function compact(entry: Loose<NewEntry> & Pick<NewEntry, 'service' | 'kind' | 'reference'>): NewEntry {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== undefined),
  ) as unknown as NewEntry;
}
