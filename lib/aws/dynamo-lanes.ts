/**
 * Lanes on DynamoDB: a lane's partition has one record of its places and an item for each execution in its
 * queue.
 *
 * Owns: the items, their keys and order, how long each is kept. Does not own: the condition of a write
 * (`dynamo-put.ts`), the order of writes (`engine/lanes.ts`).
 *
 * An item of the queue is put and deleted without a condition. Its key names the epoch and the life, so an
 * item that a late process puts concerns no other execution, and the next reader of the queue removes it.
 */

import { createHash } from 'node:crypto';
import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import type { Lanes } from '../core/ports.ts';
import type { Lane, Queued } from '../core/records/lane.ts';
import { refuse } from '../core/values/errors.ts';
import { isExecutionId } from '../core/values/names.ts';
import { FORM, type Item, jsonIn, text } from './dynamo-items.ts';
import { conditional, putOne } from './dynamo-put.ts';
import { TABLE } from './names.ts';

/** The prefix of a lane's partition. */
export const LANE_PREFIX = 'lane#';
const LANE_SK = 'lane';
const QUEUE_PREFIX = 'queue#';
/** Epoch ms have 13 digits until the year 2286. */
const PLACE_DIGITS = 15;
/** A sort key has at most 1,024 bytes; the life after the id tells longer ids apart. */
const ID_CHARS = 800;
/** How long the record is kept after `emptyAt`. */
const KEPT_MS = 400 * 86_400_000;
/**
 * How long an entry of the queue is kept. It may be older than its wait by nine tenths of the longest wait,
 * and pauses add to that.
 */
const QUEUED_KEPT_MS = 3 * KEPT_MS;

function partitionOf(lane: string): string {
  if (!isExecutionId(lane)) throw refuse('bad-key', 'that is not the key of a lane');
  return `${LANE_PREFIX}${lane}`;
}

const keyOf = (lane: string, sk: string): Item => ({
  [TABLE.pk]: { S: partitionOf(lane) },
  [TABLE.sk]: { S: sk },
});

const queueSk = ({ place, id, life, epoch }: Queued): string =>
  `${QUEUE_PREFIX}${String(place).padStart(PLACE_DIGITS, '0')}#${id.slice(0, ID_CHARS)}#${life}#${epoch}`;

/** Reads an item of a queue. */
export function queuedIn(item: Item): { readonly lane: string; readonly queued: Queued } | undefined {
  const sk = item[TABLE.sk]?.S ?? '';
  if (!sk.startsWith(QUEUE_PREFIX) || item['json'] === undefined) return undefined;
  const lane = text(item, TABLE.pk).slice(LANE_PREFIX.length);
  return { lane, queued: jsonIn(item) as Queued };
}

export const queuedKey = (lane: string, queued: Queued): Item => keyOf(lane, queueSk(queued));

const goneAt = (at: number): Item => ({ [TABLE.ttl]: { N: String(Math.ceil(at / 1_000)) } });

/**
 * True if this deployment may not delete because its last lane was dropped. Older executions may still leave
 * items: readers of the queue ignore them.
 */
const mayNotDelete = (error: unknown): boolean =>
  error instanceof Error && error.name === 'AccessDeniedException';

/** Returns a lane's name in a table: a hash in lower case, which does not reveal the key. */
export const laneHash = (value: string): string => createHash('sha256').update(value).digest('hex');

export const dynamoLanes = (client: DynamoDBClient, table: string): Lanes => ({
  hash: laneHash,
  readLane: async (lane) => {
    const { Item: item } = await client.send(
      new GetItemCommand({ TableName: table, Key: keyOf(lane, LANE_SK), ConsistentRead: true }),
    );
    return item && (jsonIn(item) as Lane);
  },
  writeLane: async (record) => {
    const { lane, life, version, writeId, emptyAt } = record;
    const item: Item = {
      ...keyOf(lane, LANE_SK),
      ...(emptyAt === undefined ? {} : goneAt(emptyAt + KEPT_MS)),
      ...FORM,
      version: { N: String(version) },
      life: { S: life },
      writeId: { S: writeId },
      json: { S: JSON.stringify(record) },
    };
    return (await putOne(client, conditional(table, item, record))).kind;
  },
  queue: async (lane, queued) => {
    const item: Item = {
      ...keyOf(lane, queueSk(queued)),
      ...goneAt(queued.place + QUEUED_KEPT_MS),
      ...FORM,
      json: { S: JSON.stringify(queued) },
    };
    await client.send(new PutItemCommand({ TableName: table, Item: item }));
  },
  queued: async (lane, limit, cursor) => {
    const answer = await client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: '#pk = :lane AND begins_with(#sk, :queue)',
        ExpressionAttributeNames: { '#pk': TABLE.pk, '#sk': TABLE.sk },
        ExpressionAttributeValues: { ':lane': { S: partitionOf(lane) }, ':queue': { S: QUEUE_PREFIX } },
        ConsistentRead: true,
        Limit: limit,
        ...(cursor === undefined ? {} : { ExclusiveStartKey: JSON.parse(cursor) as Item }),
      }),
    );
    const items = (answer.Items ?? []).map((item) => jsonIn(item) as Queued);
    const last = answer.LastEvaluatedKey;
    return last === undefined ? { items } : { items, cursor: JSON.stringify(last) };
  },
  unqueue: async (lane, queued) => {
    const request = new DeleteItemCommand({ TableName: table, Key: queuedKey(lane, queued) });
    await client.send(request).catch((error: unknown) => {
      if (!mayNotDelete(error)) throw error;
    });
  },
});
