/**
 * Performs the calls of the outside world's services, and writes their entries to the ledger.
 *
 * Owns: the two kinds of services: one acts on every request and can be asked what it did, the other acts
 * once per key; the form of their answers. Does not own: which services an example has (its `world.ts`), HTTP
 * (`server.ts`), misbehaviour (`behaviour.ts`).
 *
 *   every request       POST /<service>/<kind>s {reference, …} · GET /<service>/<kind>s?reference=, or
 *                       by its subject, ?orderId= · POST …/<id>/<undo>, or all that stands under a
 *                       reference: DELETE /<service>/<kind>s?reference=
 *   once per key        POST /<service>/<kind>s {key, …} · DELETE /<service>/<kind>s?key=
 */

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Entry, Ledger, NewEntry } from './ledger.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A parsed request: the service and the action. Nothing is done before `perform`. */
export interface Call {
  readonly deed: Deed;
  readonly action: string;
  readonly reference: string;
  /** The subject: an order, a host. */
  readonly about: string | undefined;
  readonly perform: () => Answer;
}

export interface ServiceRequest {
  readonly method: string;
  /** Decoded path segments: ['payment', 'charges', 'charge-7', 'refund']. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** The one action of a service. */
export interface Deed {
  readonly service: string;
  /** The name of an entry: `charge`; entries are at /payment/charges. */
  readonly kind: string;
  /** The action that a fault without an action matches: `charge`, and not a lookup. */
  readonly action: string;
  readonly oncePerKey?: true;
  /** The fields of a request that the ledger keeps. */
  readonly data: z.ZodMiniType<Readonly<Record<string, unknown>>>;
  /** The field that says what the request is about. */
  readonly about: string;
  readonly undo?: Undo;
  /** Why the service refuses for good: a quota, an account without funds. */
  readonly refuses?: (data: Readonly<Record<string, unknown>>, ledger: Ledger) => string | undefined;
  /**
   * Why no correct caller sends this: it is refused as well, and recorded as a `breach`, which an audit
   * finds. For a service that does not deduplicate.
   */
  readonly forbids?: (data: Readonly<Record<string, unknown>>, ledger: Ledger) => string | undefined;
  /**
   * Side products under the same reference: the disk of a machine. For a service that does not deduplicate.
   */
  readonly brings?: (entry: Entry) => readonly Readonly<Record<string, unknown>>[];
  /** Fields of an answer besides the entry. */
  readonly shows?: (entry: Entry, ledger: Ledger) => object;
  /** The status of a refusal. @default 422 */
  readonly declines?: 402 | 409 | 422;
}

/** The undo of an action. */
export interface Undo {
  readonly kind: string;
  readonly action: string;
  /** Whether it acts on every request, including repeats. */
  readonly repeats?: true;
  /** Why it cannot be undone: an account that is blocked, a network that is in use. Answered with 409. */
  readonly refuses?: (entry: Entry, ledger: Ledger) => string | undefined;
}

const Text = z.string().check(z.minLength(1));
const Asked = z.object({ reference: Text, executionId: z.optional(Text) });
const AskedByKey = z.object({ key: Text, executionId: z.optional(Text) });

/**
 * @returns undefined for a path that no service has
 * @throws ZodError for a body that a service does not understand
 */
export function understand(
  deeds: readonly Deed[],
  ledger: Ledger,
  request: ServiceRequest,
): Call | undefined {
  const [service, collection, ...rest] = request.path;
  const deed = deeds.find((one) => one.service === service && `${one.kind}s` === collection);
  if (deed === undefined) return undefined;
  const world = { deed, ledger, request };
  if (deed.oncePerKey === true) return rest.length === 0 ? byKey(world) : undefined;
  return rest.length === 0 ? byReference(world) : undoing(world, rest);
}

interface World {
  readonly deed: Deed;
  readonly ledger: Ledger;
  readonly request: ServiceRequest;
}

/** A service that does not deduplicate: POST acts again, GET lists what was done. */
function byReference({ deed, ledger, request }: World): Call | undefined {
  if (request.method === 'GET') {
    const asked = request.query.get(deed.about);
    const reference = asked === null ? z.parse(Text, request.query.get('reference')) : '';
    const found =
      asked === null
        ? ledger.find(deed.kind, reference)
        : ledger.entries.filter((entry) => entry.kind === deed.kind && aboutOf(deed, entry) === asked);
    const all = { [`${deed.kind}s`]: found.map((entry) => shown(deed, ledger, entry)) };
    const about = aboutOf(deed, found[0]) ?? asked ?? undefined;
    return { deed, action: 'lookup', reference, about, perform: () => ({ status: 200, body: all }) };
  }
  if (request.method === 'DELETE' && deed.undo !== undefined)
    return undoingReference(deed, deed.undo, ledger, request);
  if (request.method !== 'POST') return undefined;
  const { reference, executionId } = z.parse(Asked, request.body);
  const data = z.parse(deed.data, request.body);
  const entry = { service: deed.service, kind: deed.kind, reference, executionId, ...data };
  const perform = (): Answer => {
    const breach = deed.forbids?.(data, ledger);
    if (breach !== undefined) ledger.append(compact({ ...entry, kind: 'breach', why: breach }));
    const why = breach ?? deed.refuses?.(data, ledger);
    if (why !== undefined) return refuse(deed.declines ?? 422, why);
    const done = ledger.append(compact(entry));
    for (const more of deed.brings?.(done) ?? []) ledger.append(compact({ ...entry, ...more }));
    return { status: 201, body: shown(deed, ledger, done) };
  };
  return { deed, action: deed.action, reference, about: aboutOf(deed, data), perform };
}

/** Undoes the entry with one id. */
function undoing(
  { deed, ledger, request }: World,
  [id = '', verb, ...more]: readonly string[],
): Call | undefined {
  const { undo } = deed;
  if (request.method !== 'POST' || undo === undefined || verb !== undo.action || more.length > 0)
    return undefined;
  const done = ledger.byId(deed.kind, id);
  const perform = (): Answer => {
    if (done === undefined) return refuse(404, 'there is no such entry');
    const why =
      undo.repeats === true || !ledger.has(undo.kind, id) ? undo.refuses?.(done, ledger) : undefined;
    if (why !== undefined) return refuse(409, why);
    if (undo.repeats === true) return { status: 201, body: ledger.append(takingBack(undo.kind, done)) };
    if (!ledger.has(undo.kind, id)) ledger.append(takingBack(undo.kind, done));
    return { status: 200, body: shown(deed, ledger, done) };
  };
  return { deed, action: undo.action, reference: done?.reference ?? '', about: aboutOf(deed, done), perform };
}

/** Undoes each effect under a reference once; there may be none. */
function undoingReference(deed: Deed, undo: Undo, ledger: Ledger, request: ServiceRequest): Call {
  const reference = z.parse(Text, request.query.get('reference'));
  const done = ledger.find(deed.kind, reference);
  const perform = (): Answer => {
    const standing = done.filter((entry) => !isUndone(deed, ledger, entry));
    const [why] = standing.flatMap((entry) => undo.refuses?.(entry, ledger) ?? []);
    if (why !== undefined) return refuse(409, why);
    for (const entry of standing) ledger.append(takingBack(undo.kind, entry));
    return { status: 200, body: { undone: standing.length } };
  };
  return { deed, action: undo.action, reference, about: aboutOf(deed, done[0]), perform };
}

/**
 * A service that deduplicates: the first POST under a key acts; a repeat gets the recorded answer, and is
 * refused if it differs. A key that was undone is used up: a late request must not act again.
 */
function byKey({ deed, ledger, request }: World): Call | undefined {
  if (request.method === 'DELETE' && deed.undo !== undefined)
    return undoingKey(deed, deed.undo, ledger, request);
  if (request.method !== 'POST') return undefined;
  const { key, executionId } = z.parse(AskedByKey, request.body);
  const data = z.parse(deed.data, request.body);
  const perform = (): Answer => {
    const [known] = ledger.find(deed.kind, key);
    const parameters = createHash('sha256').update(JSON.stringify(request.body)).digest('hex').slice(0, 12);
    const entry = { service: deed.service, reference: key, parameters, executionId, ...data };
    if (known === undefined) {
      const why = deed.refuses?.(data, ledger);
      if (why !== undefined) return refuse(deed.declines ?? 422, why);
      return {
        status: 201,
        body: shown(deed, ledger, ledger.append(compact({ ...entry, kind: deed.kind }))),
      };
    }
    const isSame = known.parameters === parameters;
    ledger.append(compact({ ...entry, kind: isSame ? 'repeat' : 'misuse', of: known.id }));
    if (!isSame) return refuse(422, 'this key stands for a request with other parameters');
    if (isUndone(deed, ledger, known)) return refuse(409, `the ${deed.kind} under this key was taken back`);
    return { status: 200, body: shown(deed, ledger, known) };
  };
  return { deed, action: deed.action, reference: key, about: aboutOf(deed, data), perform };
}

function undoingKey(deed: Deed, undo: Undo, ledger: Ledger, request: ServiceRequest): Call {
  const key = z.parse(Text, request.query.get('key'));
  const [done] = ledger.find(deed.kind, key);
  const perform = (): Answer => {
    const stands = done !== undefined && !isUndone(deed, ledger, done);
    const why = stands ? undo.refuses?.(done, ledger) : undefined;
    if (why !== undefined) return refuse(409, why);
    if (stands) ledger.append(takingBack(undo.kind, done));
    return { status: 200, body: { undone: stands } };
  };
  return { deed, action: undo.action, reference: key, about: aboutOf(deed, done), perform };
}

const isUndone = ({ undo }: Deed, ledger: Ledger, entry: Entry): boolean =>
  undo !== undefined && ledger.has(undo.kind, entry.id);

/** The entry in the form that its caller gets. */
const shown = (deed: Deed, ledger: Ledger, entry: Entry): object => ({
  ...entry,
  ...deed.shows?.(entry, ledger),
  undone: isUndone(deed, ledger, entry),
});

const aboutOf = (deed: Deed, data: object | undefined): string | undefined =>
  (data as Readonly<Record<string, string | undefined>> | undefined)?.[deed.about];

export const refuse = (status: number, message: string): Answer => ({ status, body: { error: { message } } });

/** Copies the entry without its number and time. */
function takingBack(
  kind: string,
  { seq: _seq, at: _at, id, parameters: _digest, ...entry }: Entry,
): NewEntry {
  return { ...entry, kind, of: id };
}

type Loose<T> = { readonly [Key in keyof T]: T[Key] | undefined };

/** Omits absent fields, as the file does. */
function compact(entry: Loose<NewEntry> & Pick<NewEntry, 'service' | 'kind' | 'reference'>): NewEntry {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== undefined),
  ) as unknown as NewEntry;
}
