/**
 * A record of its own in the state table, beside the executions: its JSON text under one
 * key, one version after the other.
 *
 * Owns: its item, its strongly consistent read. Does not own: the keys (each kind's own file),
 * the condition (`dynamo-put.ts`).
 */

import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { WriteResult } from '../core/ports.ts';
import { type Item, text } from './dynamo-items.ts';
import { conditional, type Put, putOne } from './dynamo-put.ts';

const ITEM_VERSION = '1';

/** Where its kind is kept: the name of the attribute that has the text. */
export type RecordField =
  | 'breaker'
  | 'bulk'
  | 'list'
  | 'outage'
  | 'page'
  | 'pause'
  | 'presence'
  | 'receipt'
  | 'total'
  | 'waits';

export const recordIn = (item: Item, field: RecordField): unknown => JSON.parse(text(item, field));

export async function readRecord<Kept>(
  client: DynamoDBClient,
  table: string,
  key: Item,
  field: RecordField,
): Promise<Kept | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true }),
  );
  return Item && (recordIn(Item, field) as Kept);
}

interface Versioned {
  readonly version: number;
  readonly writeId: string;
}

export const writeRecord = async (
  client: DynamoDBClient,
  table: string,
  key: Item,
  field: RecordField,
  record: Versioned,
): Promise<WriteResult> => (await putOne(client, recordPut(table, key, field, record))).kind;

export function recordPut(table: string, key: Item, field: RecordField, record: Versioned): Put {
  const item: Item = {
    ...key,
    v: { N: ITEM_VERSION },
    version: { N: String(record.version) },
    writeId: { S: record.writeId },
    [field]: { S: JSON.stringify(record) },
  };
  return conditional(table, item, record);
}
