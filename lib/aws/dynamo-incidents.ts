/**
 * Open incidents of all workflows, latest opened first, from the list index.
 *
 * Owns: the page and its cursor. Does not own: the items (`dynamo-items.ts`).
 */

import { BatchGetItemCommand, type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { refuse } from '../core/errors.ts';
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
import { TABLE } from './names.ts';

/** DynamoDB's limit of one BatchGetItem. */
const BATCH = 100;
const MAX_BATCH_ROUNDS = 10;

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
  const found = await readAll(client, table, keys);
  const items = keys.flatMap((key) => {
    const item = found.get(`${key.pk.S}/${key.sk.S}`);
    const incident = item && incidentOf(item);
    // The index may lag: one that was answered meanwhile is no longer open.
    return item === undefined || incident?.resolvedAt !== undefined || incident === undefined
      ? []
      : [{ executionId: idOfKey(item), incident }];
  });
  const last = answer.LastEvaluatedKey;
  return last === undefined ? { items } : { items, cursor: cursorOf(last) };
}

async function readAll(
  client: DynamoDBClient,
  table: string,
  keys: readonly Item[],
): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  let open = [...keys];
  for (let round = 0; open.length > 0 && round < MAX_BATCH_ROUNDS; round += 1) {
    const answer = await client.send(new BatchGetItemCommand({ RequestItems: { [table]: { Keys: open } } }));
    for (const item of answer.Responses?.[table] ?? []) {
      found.set(`${text(item, TABLE.pk)}/${text(item, TABLE.sk)}`, item);
    }
    open = answer.UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return found;
}

const cursorOf = (key: Item): string =>
  `${key[TABLE.listIndex.sk]?.N ?? ''}.${idOfKey(key)}.${text(key, TABLE.sk).split('#')[1] ?? ''}`;

/** @throws SteadfastError `bad-cursor`: the cursor comes from a client */
function startKey(cursor: string): Item {
  const match = /^(\d{1,15})\.([a-z0-9-]{1,64})\.(\d{1,6})$/.exec(cursor);
  const [, openedAt, id, number] = match ?? [];
  if (openedAt === undefined || id === undefined || number === undefined) {
    throw refuse('bad-cursor', 'the cursor is not one that a list has returned');
  }
  return {
    ...executionKey(id),
    [TABLE.sk]: { S: incidentSk(Number(number)) },
    [TABLE.listIndex.pk]: { S: OPEN_INCIDENTS_KEY },
    [TABLE.listIndex.sk]: { N: openedAt },
  };
}
