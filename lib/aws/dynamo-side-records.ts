/**
 * The records beside the executions in the state table: each is a JSON text under its own key, replaced
 * version by version.
 *
 * Owns: the kinds and their keys, their items, reading them strongly consistently, how long each is kept.
 * Does not own: the condition of a write (`dynamo-put.ts`), which records are read or written together
 * (`dynamo-receipts.ts`, `dynamo-bulks.ts`).
 */

import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { WorkflowPause } from '../core/holds/workflow-pause.ts';
import type { SideRecord, SideRecords } from '../core/ports.ts';
import type { OpenWaits } from '../core/records/open-waits.ts';
import type { Breaker } from '../core/step/breaker.ts';
import type { AgentRate } from '../core/records/slots.ts';
import type { ValuesAudit } from '../core/supervision/stored-values.ts';
import type { Presence } from '../core/supervision/presence.ts';
import { refuse } from '../core/values/errors.ts';
import { isName } from '../core/values/names.ts';
import { FORM, type Item, jsonIn } from './dynamo-items.ts';
import { conditional, type Put, putOne } from './dynamo-put.ts';
import { TABLE } from './names.ts';

/** One kind of record: where it is kept, and how long. */
export interface Kind<Kept extends SideRecord, Key extends readonly unknown[]> {
  readonly keyOf: (record: Kept) => Key;
  readonly placeOf: (...key: Key) => readonly [pk: string, sk: string];
  /** Epoch ms from which the record may expire. @default it stays */
  readonly goneAt?: (record: Kept) => number;
}

function nameIn(name: string): string {
  if (!isName(name)) throw refuse('bad-key', `'${name}' is not the name of a workflow or an agent`);
  return name;
}

export const BREAKER: Kind<Breaker, [agent: string]> = {
  keyOf: ({ agent }) => [agent],
  placeOf: (agent) => [`agent#${nameIn(agent)}`, 'breaker'],
};

export const RATE: Kind<AgentRate, [agent: string]> = {
  keyOf: ({ agent }) => [agent],
  placeOf: (agent) => [`agent#${nameIn(agent)}`, 'rate'],
};

export const WORKFLOW_PAUSE: Kind<WorkflowPause, [workflow: string]> = {
  keyOf: ({ workflow }) => [workflow],
  placeOf: (workflow) => [`workflow#${nameIn(workflow)}`, 'pause'],
};

export const PRESENCE: Kind<Presence, []> = {
  keyOf: () => [],
  placeOf: () => ['supervisor', 'presence'],
};

export const VALUES_AUDIT: Kind<ValuesAudit, []> = {
  keyOf: () => [],
  placeOf: () => ['audit', 'values'],
};

export const OPEN_WAITS: Kind<OpenWaits, []> = {
  keyOf: () => [],
  placeOf: () => ['api', 'waits'],
};

export function itemKey<Kept extends SideRecord, Key extends readonly unknown[]>(
  { placeOf }: Kind<Kept, Key>,
  ...key: Key
): Item {
  const [pk, sk] = placeOf(...key);
  return { [TABLE.pk]: { S: pk }, [TABLE.sk]: { S: sk } };
}

export function putOf<Kept extends SideRecord, Key extends readonly unknown[]>(
  table: string,
  kind: Kind<Kept, Key>,
  record: Kept,
): Put {
  const goneAt = kind.goneAt?.(record);
  const item: Item = {
    ...itemKey(kind, ...kind.keyOf(record)),
    ...(goneAt === undefined ? {} : { [TABLE.ttl]: { N: String(Math.ceil(goneAt / 1_000)) } }),
    ...FORM,
    version: { N: String(record.version) },
    writeId: { S: record.writeId },
    json: { S: JSON.stringify(record) },
  };
  return conditional(table, item, record);
}

/** The port of one kind. */
export const dynamoRecords = <Kept extends SideRecord, Key extends readonly unknown[]>(
  client: DynamoDBClient,
  table: string,
  kind: Kind<Kept, Key>,
): SideRecords<Kept, Key> => ({
  read: async (...key) => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key: itemKey(kind, ...key), ConsistentRead: true }),
    );
    return Item && (jsonIn(Item) as Kept);
  },
  write: async (record) => (await putOne(client, putOf(table, kind, record))).kind,
});
