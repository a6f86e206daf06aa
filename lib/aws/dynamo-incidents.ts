/**
 * Open incidents of all workflows, latest opened first, from the list index.
 *
 * Owns: the page and its cursor. Does not own: the items (`dynamo-items.ts`).
 */

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { refuse } from '../core/records/errors.ts';
import { isExecutionId } from '../core/records/names.ts';
import type { OpenIncident, Page } from '../core/ports.ts';
import {
  executionKey,
  idOfKey,
  incidentOf,
  incidentSk,
  type Item,
  OPEN_INCIDENTS_KEY,
  text,
} from './dynamo-items.ts';
import { BATCH, keyText, readItems } from './dynamo-batch.ts';
import { TABLE } from './names.ts';

export async function openIncidentsPage(
  client: DynamoDBClient,
  table: string,
  limit: number,
  cursor?: string,
): Promise<Page<OpenIncident>> {
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
    const incident = item && incidentOf(item);
    // The index may lag: one that was answered meanwhile is no longer open.
    return item === undefined || incident?.resolvedAt !== undefined || incident === undefined
      ? []
      : [{ executionId: idOfKey(item), incident }];
  });
  const last = answer.LastEvaluatedKey;
  return last === undefined ? { items } : { items, cursor: cursorOf(last) };
}

const cursorOf = (key: Item): string =>
  `${key[TABLE.listIndex.sk]?.N ?? ''}.${idOfKey(key)}.${text(key, TABLE.sk).split('#')[1] ?? ''}`;

/** @throws SteadfastError `bad-cursor`: the cursor comes from a client */
function startKey(cursor: string): Item {
  const match = /^(\d{1,15})\.(.+)\.(\d{1,6})$/.exec(cursor);
  const [, openedAt, id, number] = match ?? [];
  if (openedAt === undefined || id === undefined || number === undefined || !isExecutionId(id)) {
    throw refuse('bad-cursor', 'the cursor is not one that a list has returned');
  }
  return {
    ...executionKey(id),
    [TABLE.sk]: { S: incidentSk(Number(number)) },
    [TABLE.listIndex.pk]: { S: OPEN_INCIDENTS_KEY },
    [TABLE.listIndex.sk]: { N: openedAt },
  };
}
