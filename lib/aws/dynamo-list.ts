/**
 * Executions of one workflow, latest start first, from the list index.
 *
 * Owns: the merge of a workflow's list shards, the page's cursor, the filter by status. Does not own: the items.
 * Never scans: the index gives keys in order, the executions behind them are read, and what the filter drops is made up for
 * by reading on, up to a bound; a page may then be short and still have a cursor.
 */

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { refuse } from '../core/errors.ts';
import { isExecutionId } from '../core/names.ts';
import type { ListQuery, Log, Page } from '../core/ports.ts';
import type { Execution } from '../core/state.ts';
import {
  executionKey,
  executionOf,
  idOfKey,
  type Item,
  LIST_SHARDS,
  listKey,
  number,
} from './dynamo-items.ts';
import { BATCH, keyText, readItems } from './dynamo-batch.ts';
import { TABLE } from './names.ts';

interface Key {
  readonly id: string;
  readonly startedAt: number;
}

/** Pages of keys read for one page of answers. */
const MAX_ROUNDS = 5;

export async function listPage(
  client: DynamoDBClient,
  table: string,
  query: ListQuery,
  log?: Log,
): Promise<Page<Execution>> {
  const items: Execution[] = [];
  let after = parseCursor(query.cursor);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const keys = await keysAfter(client, table, query.workflow, after, Math.min(query.limit, BATCH));
    const found = await readItems(
      client,
      table,
      keys.map((key) => executionKey(key.id)),
    );
    for (const key of keys) {
      after = key;
      const item = found.get(keyText(executionKey(key.id)));
      const execution = item && readable(item, key.id, log);
      if (execution === undefined || (query.status !== undefined && execution.status !== query.status))
        continue;
      items.push(execution);
      if (items.length === query.limit) return { items, cursor: cursorOf(key) };
    }
    if (keys.length < Math.min(query.limit, BATCH)) return { items };
  }
  return after === undefined ? { items } : { items, cursor: cursorOf(after) };
}

/** One that a later release has written, or that is damaged, hides no other: it is left out, and said so. */
function readable(item: Item, executionId: string, log: Log | undefined): Execution | undefined {
  try {
    return executionOf(item);
  } catch (error) {
    log?.note({ what: 'list-left-out', executionId, detail: error instanceof Error ? error.name : 'error' });
    return undefined;
  }
}

/** The next keys of all shards together, latest first. */
async function keysAfter(
  client: DynamoDBClient,
  table: string,
  workflow: string,
  after: Key | undefined,
  limit: number,
): Promise<Key[]> {
  const shards = Array.from({ length: LIST_SHARDS }, (_, shard) =>
    keysOfShard(client, table, listKey(workflow, shard), after, limit),
  );
  const keys = (await Promise.all(shards)).flat().sort(latestFirst);
  return keys.slice(0, limit);
}

const latestFirst = (a: Key, b: Key): number =>
  b.startedAt - a.startedAt || Number(a.id < b.id) - Number(a.id > b.id);

async function keysOfShard(
  client: DynamoDBClient,
  table: string,
  key: string,
  after: Key | undefined,
  limit: number,
): Promise<Key[]> {
  const keys: Key[] = [];
  let from: Item | undefined;
  do {
    const answer = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: TABLE.listIndex.name,
        KeyConditionExpression: after === undefined ? '#key = :key' : '#key = :key AND #at <= :at',
        ExpressionAttributeNames: {
          '#key': TABLE.listIndex.pk,
          ...(after === undefined ? {} : { '#at': TABLE.listIndex.sk }),
        },
        ExpressionAttributeValues: {
          ':key': { S: key },
          ...(after === undefined ? {} : { ':at': { N: String(after.startedAt) } }),
        },
        ScanIndexForward: false,
        Limit: limit,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    const page = (answer.Items ?? []).map((item) => ({
      id: idOfKey(item),
      startedAt: number(item, TABLE.listIndex.sk),
    }));
    // Several may have started in the cursor's millisecond: those up to the cursor were on the page before.
    keys.push(...page.filter((one) => after === undefined || latestFirst(after, one) < 0));
    from = answer.LastEvaluatedKey;
  } while (from !== undefined && keys.length < limit);
  return keys;
}

const cursorOf = (key: Key): string => `${key.startedAt}.${key.id}`;

function parseCursor(cursor: string | undefined): Key | undefined {
  if (cursor === undefined) return undefined;
  const match = /^(\d{1,15})\.(.+)$/.exec(cursor);
  if (match?.[1] === undefined || match[2] === undefined || !isExecutionId(match[2])) {
    throw refuse('bad-cursor', 'the cursor is not one that a list has returned');
  }
  return { startedAt: Number(match[1]), id: match[2] };
}
