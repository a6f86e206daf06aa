/**
 * An outside world as a function with an address, for a stage that tries an example on AWS.
 *
 * Owns: the table's items, storing them before a request is answered, and the faults. Does not own: the
 * services (`deeds.ts`), who may call (IAM), the function (`../gallery/outside-world.ts`).
 *
 * An item stores what was done for one order, or another subject of requests; another item maps a reference
 * or a key to its subject, and is written first. The version that each call read tells two simultaneous calls
 * apart.
 */

import { createHash } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { Behaviour, type Mode, type RuleInput } from './behaviour.ts';
import { type Answer, type Call, type Deed, refuse, type ServiceRequest, understand } from './deeds.ts';
import { type Entry, Ledger } from './ledger.ts';

/** A misbehaviour; `times` counts separately for each order. */
export interface Fault extends RuleInput {
  readonly mode: Extract<Mode, 'decline' | 'drop-reply' | 'unavailable'>;
}

/** The fields that are read from a request to a function's address. */
export interface UrlRequest {
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly requestContext: { readonly http: { readonly method: string } };
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

export interface UrlAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The environment variable with the name of the function's table. */
export const TABLE_VARIABLE = 'WORLD_TABLE';

const KEPT_SECONDS = 30 * 24 * 3_600;
const MAX_TRIES = 5;

export function deployedWorld(
  deeds: readonly Deed[],
  faults: readonly Fault[],
): (request: UrlRequest) => Promise<UrlAnswer> {
  const client = new DynamoDBClient();
  return async (request) => {
    const { status, body } = await answer(deeds, faults, client, request).catch((error: unknown) => {
      const isAsked = [z.core.$ZodError, SyntaxError, URIError].some((type) => error instanceof type);
      if (!isAsked) throw error;
      return refuse(400, (error as Error).message);
    });
    return {
      statusCode: status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
  };
}

async function answer(
  deeds: readonly Deed[],
  faults: readonly Fault[],
  client: DynamoDBClient,
  request: UrlRequest,
): Promise<Answer> {
  const asked = {
    method: request.requestContext.http.method,
    path: request.rawPath.split('/').filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(request.rawQueryString),
    body: bodyOf(request),
  };
  const part = await placeOf(client, deeds, asked);
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const kept = await read(client, part);
    const ledger = new Ledger(kept.entries, () => {}, `${part}-`);
    const behaviour = new Behaviour(deeds);
    faults.forEach((fault, at) => {
      behaviour.add(fault).fired = kept.fired[at] ?? 0;
    });
    const call = understand(deeds, ledger, asked);
    if (call === undefined) return refuse(501, `there is no ${asked.method} ${request.rawPath}`);
    const rule = behaviour.take(call);
    const said = performed(call, rule?.mode);
    const next = { entries: ledger.entries, fired: behaviour.rules.map(({ fired }) => fired) };
    const isNew = next.entries.length > kept.count || rule !== undefined;
    if (!isNew || (await write(client, part, kept.version, next))) return said;
  }
  return refuse(503, 'too many calls about one order at the same time');
}

/** The call's answer, which counts only once it is written. */
function performed(call: Call, mode: Mode | undefined): Answer {
  const { service, declines } = call.deed;
  switch (mode) {
    case 'unavailable':
      return refuse(503, `the ${service} service is unavailable`);
    case 'decline':
      return refuse(declines ?? 422, `the ${service} service declines`);
    case 'drop-reply':
      call.perform();
      return refuse(502, `the answer of the ${service} service was lost on its way`);
    default:
      return call.perform();
  }
}

function bodyOf({ body = '', isBase64Encoded }: UrlRequest): unknown {
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString('utf8') : body;
  return text === '' ? undefined : JSON.parse(text);
}

const Named = z.object({ reference: z.optional(z.string()), key: z.optional(z.string()) });
/** `charge-0123456789ab-1`: an entry's id contains its item. */
const ID = /-([0-9a-f]{12})-\d+$/;

/** The item that has, or will have, what the call asks for. */
async function placeOf(
  client: DynamoDBClient,
  deeds: readonly Deed[],
  { path, query, body }: ServiceRequest,
): Promise<string> {
  const inBody = z.safeParse(Named, body);
  const { reference, key }: z.infer<typeof Named> = inBody.success ? inBody.data : {};
  const name = reference ?? key ?? query.get('reference') ?? query.get('key');
  const field = deeds.find(({ service }) => service === path[0])?.about ?? '';
  const about = (Object(body) as Readonly<Record<string, unknown>>)[field] ?? query.get(field);
  if (typeof about !== 'string')
    return name === null ? (ID.exec(path[2] ?? '')?.[1] ?? 'none') : await keptFor(client, name);
  const part = partOf(about);
  if (name !== null && name !== about) await keepFor(client, name, part);
  return part;
}

/** The item with the requests under a reference. */
async function keptFor(client: DynamoDBClient, name: string): Promise<string> {
  const Key = { part: { S: `name-${partOf(name)}` } };
  const { Item } = await client.send(new GetItemCommand({ TableName: table(), Key, ConsistentRead: true }));
  return Item?.['in']?.S ?? partOf(name);
}

async function keepFor(client: DynamoDBClient, name: string, part: string): Promise<void> {
  const Item = { part: { S: `name-${partOf(name)}` }, in: { S: part }, expiresAt: expiry() };
  await client.send(new PutItemCommand({ TableName: table(), Item }));
}

const expiry = () => ({ N: String(Math.ceil(Date.now() / 1_000) + KEPT_SECONDS) });

const partOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 12);

interface Kept {
  readonly version: number;
  readonly count: number;
  readonly entries: Entry[];
  readonly fired: readonly number[];
}

const table = (): string => process.env[TABLE_VARIABLE] ?? '';

async function read(client: DynamoDBClient, part: string): Promise<Kept> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table(), Key: { part: { S: part } }, ConsistentRead: true }),
  );
  const entries = JSON.parse(Item?.['entries']?.S ?? '[]') as Entry[];
  const fired = JSON.parse(Item?.['fired']?.S ?? '[]') as number[];
  return { version: Number(Item?.['version']?.N ?? 0), count: entries.length, entries, fired };
}

/** @returns false if another call was first */
async function write(
  client: DynamoDBClient,
  part: string,
  version: number,
  { entries, fired }: Pick<Kept, 'fired'> & { readonly entries: readonly Entry[] },
): Promise<boolean> {
  const Item = {
    part: { S: part },
    version: { N: String(version + 1) },
    entries: { S: JSON.stringify(entries) },
    fired: { S: JSON.stringify(fired) },
    expiresAt: expiry(),
  };
  try {
    await client.send(
      new PutItemCommand({
        TableName: table(),
        Item,
        ConditionExpression: 'attribute_not_exists(part) OR version = :seen',
        ExpressionAttributeValues: { ':seen': { N: String(version) } },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
