/**
 * Which lists have announced a question, on DynamoDB: `list#<list>`/`announced` in the state table.
 *
 * Owns: their key, and how long they are kept. Does not own: their item (`dynamo-record.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AnnouncedLists } from '../core/ports.ts';
import type { AnnouncedList } from '../core/records/announced-list.ts';
import type { Item } from './dynamo-items.ts';
import { readRecord, writeRecord } from './dynamo-record.ts';
import { TABLE } from './names.ts';

/** Longer than a question is open; it goes by itself. */
const KEPT_S = 90 * 86_400;

const keyOf = (list: string): Item => ({
  [TABLE.pk]: { S: `list#${list}` },
  [TABLE.sk]: { S: 'announced' },
});

export const dynamoAnnouncedLists = (client: DynamoDBClient, table: string): AnnouncedLists => ({
  read: async (list) => readRecord<AnnouncedList>(client, table, keyOf(list), 'list'),
  write: async (record) => {
    const goneAt = { [TABLE.ttl]: { N: String(Math.ceil(record.askedAt / 1_000) + KEPT_S) } };
    return writeRecord(client, table, { ...keyOf(record.list), ...goneAt }, 'list', record);
  },
});
