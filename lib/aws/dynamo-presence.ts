/**
 * The supervisors' presence on DynamoDB: `supervisor`/`presence` in the state table.
 *
 * Owns: its key. Does not own: its item (`dynamo-record.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Presences } from '../core/ports.ts';
import type { Presence } from '../core/supervision/presence.ts';
import type { Item } from './dynamo-items.ts';
import { readRecord, writeRecord } from './dynamo-record.ts';
import { TABLE } from './names.ts';

const KEY: Item = {
  [TABLE.pk]: { S: 'supervisor' },
  [TABLE.sk]: { S: 'presence' },
};

export const dynamoPresences = (client: DynamoDBClient, table: string): Presences => ({
  read: async () => readRecord<Presence>(client, table, KEY, 'presence'),
  write: async (presence) => writeRecord(client, table, KEY, 'presence', presence),
});
