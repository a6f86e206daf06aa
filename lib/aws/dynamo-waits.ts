/**
 * The open waits on DynamoDB: `api`/`waits` in the state table.
 *
 * Owns: their key. Does not own: their item (`dynamo-record.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Waits } from '../core/ports.ts';
import type { OpenWaits } from '../core/records/open-waits.ts';
import type { Item } from './dynamo-items.ts';
import { readRecord, writeRecord } from './dynamo-record.ts';
import { TABLE } from './names.ts';

const KEY: Item = { [TABLE.pk]: { S: 'api' }, [TABLE.sk]: { S: 'waits' } };

export const dynamoWaits = (client: DynamoDBClient, table: string): Waits => ({
  read: async () => readRecord<OpenWaits>(client, table, KEY, 'waits'),
  write: async (waits) => writeRecord(client, table, KEY, 'waits', waits),
});
