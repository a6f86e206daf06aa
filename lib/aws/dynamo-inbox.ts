/**
 * The inbox: open incidents, approvals and callbacks of all workflows, latest opened first, from the list index.
 *
 * Owns: the page and its cursor. Does not own: the items (`dynamo-items.ts`).
 */

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { refuse } from '../core/records/errors.ts';
import { isExecutionId, isName } from '../core/records/names.ts';
import type { InboxItem, Page } from '../core/ports.ts';
import { isOpenEntry } from '../core/records/entry.ts';
import {
  entryOf,
  entrySk,
  executionKey,
  idOfKey,
  incidentOf,
  incidentSk,
  isEntryItem,
  type Item,
  OPEN_INCIDENTS_KEY,
  text,
} from './dynamo-items.ts';
import { BATCH, keyText, readItems } from './dynamo-batch.ts';
import { TABLE } from './names.ts';

export async function inboxPage(
  client: DynamoDBClient,
  table: string,
  limit: number,
  cursor?: string,
): Promise<Page<InboxItem>> {
  const answer = await client.send(
    new QueryCommand({
      TableName: table,
      IndexName: TABLE.listIndex.name,
      KeyConditionExpression: '#key = :key',
      ExpressionAttributeNames: { '#key': TABLE.listIndex.pk },
      ExpressionAttributeValues: { ':key': { S: OPEN_INCIDENTS_KEY } },
      ScanIndexForward: false,
      Limit: Math.min(limit, BATCH),
      ...(cursor === undefined ? {} : { ExclusiveStartKey: startKey(cursor) }),
    }),
  );
  const keys = (answer.Items ?? []).map((item) => ({
    pk: { S: text(item, TABLE.pk) },
    sk: { S: text(item, TABLE.sk) },
  }));
  const found = await readItems(client, table, keys);
  const items = keys.flatMap((key) => {
    const item = found.get(keyText(key));
    return item === undefined ? [] : openIn(item);
  });
  const last = answer.LastEvaluatedKey;
  return last === undefined ? { items } : { items, cursor: cursorOf(last) };
}

/** The index may lag: what was answered meanwhile is no longer open. */
function openIn(item: Item): InboxItem[] {
  const executionId = idOfKey(item);
  if (isEntryItem(item)) {
    const entry = entryOf(item);
    return isOpenEntry(entry) ? [{ executionId, entry }] : [];
  }
  const incident = incidentOf(item);
  return incident.resolvedAt === undefined ? [{ executionId, incident }] : [];
}

const cursorOf = (key: Item): string =>
  `${key[TABLE.listIndex.sk]?.N ?? ''}.${idOfKey(key)}.${text(key, TABLE.sk).split('#')[1] ?? ''}`;

/** @throws SteadfastError `bad-cursor`: the cursor comes from a client */
function startKey(cursor: string): Item {
  const match = /^(\d{1,15})\.(.+)\.([^.]+)$/.exec(cursor);
  const [, openedAt, id, which = ''] = match ?? [];
  // An incident has a number, an entry the name of its step, which begins with a letter.
  const isNumber = /^\d{1,6}$/.test(which);
  if (openedAt === undefined || id === undefined || !isExecutionId(id) || !(isNumber || isName(which))) {
    throw refuse('bad-cursor', 'the cursor is not one that a list has returned');
  }
  return {
    ...executionKey(id),
    [TABLE.sk]: { S: isNumber ? incidentSk(Number(which)) : entrySk(which) },
    [TABLE.listIndex.pk]: { S: OPEN_INCIDENTS_KEY },
    [TABLE.listIndex.sk]: { N: openedAt },
  };
}
