/**
 * Counts what is open now: incidents that wait for a person, approvals and callbacks that wait for an answer,
 * breakers that let only trials through.
 *
 * Owns: the two reads. Does not own: the use of the numbers (`metrics.ts`), when a breaker is open
 * (`core/step/breaker.ts`).
 *
 * Counts in the table instead of adding up openings and closings, where one lost line would falsify the count
 * for ever. A count costs a query of each of eight shards and one read of the agents' breakers, in a tick
 * that has something to count. An idle system is counted every quarter of an hour, because an approval may
 * open without anything being due.
 */

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { type Breaker, notBeforeOf } from '../core/step/breaker.ts';
import { readMany } from './dynamo-batch.ts';
import { INBOX_SHARDS, INBOX_KEY, shardsOf } from './dynamo-indexes.ts';
import { INCIDENT_PREFIX, jsonIn } from './dynamo-items.ts';
import { BREAKER, itemKey } from './dynamo-side-records.ts';
import { TABLE } from './names.ts';

export interface OpenNow {
  readonly incidents: number;
  readonly entries: number;
  readonly breakers: number;
}

const COUNT_EVERY_MS = 15 * 60_000;

/**
 * Says if a tick must count: the last count is long ago or was above zero, or the last tick found due work,
 * as happens after an incident or a breaker opens.
 */
export class OpenGauge {
  #open: number | undefined;
  #countedAt = 0;

  isDue(now: number): boolean {
    return this.#open !== 0 || now - this.#countedAt >= COUNT_EVERY_MS;
  }

  /** @param open undefined if it is unknown */
  counted(open: OpenNow | undefined, now: number): void {
    this.#open = open && open.incidents + open.entries + open.breakers;
    this.#countedAt = now;
  }
}

/**
 * @param agents whose breakers count
 * @param counted given if items can be counted without reading them
 */
export async function openNow(
  client: DynamoDBClient,
  table: string,
  agents: readonly string[],
  now: number,
  counted?: Counted,
): Promise<OpenNow> {
  const [{ incidents, entries }, found] = await Promise.all([
    counted === undefined ? countInbox(client, table) : inboxOf(counted),
    readMany(
      client,
      table,
      agents.map((agent) => itemKey(BREAKER, agent)),
    ),
  ]);
  const open = [...found.values()].filter((item) => notBeforeOf(jsonIn(item) as Breaker, now) !== undefined);
  return { incidents, entries, breakers: open.length };
}

type Inbox = Pick<OpenNow, 'incidents' | 'entries'>;

/** Counts the items in these partitions of the list index, and those whose sort key has the prefix. */
type Counted = (partitions: readonly string[], prefix: string) => readonly [number, number];

function inboxOf(counted: Counted): Inbox {
  const [all, incidents] = counted(shardsOf(INBOX_KEY, INBOX_SHARDS), INCIDENT_PREFIX);
  return { incidents, entries: all - incidents };
}

async function countInbox(client: DynamoDBClient, table: string): Promise<Inbox> {
  const shards = shardsOf(INBOX_KEY, INBOX_SHARDS);
  const counts = await Promise.all(shards.map((shard) => countShard(client, table, shard)));
  const sum = (of: keyof Inbox): number => counts.reduce((all, count) => all + count[of], 0);
  return { incidents: sum('incidents'), entries: sum('entries') };
}

/** Counts one page, 1 MB: some thousand incidents. A larger number would tell a person nothing more. */
async function countShard(client: DynamoDBClient, table: string, shard: string): Promise<Inbox> {
  const { Count: incidents = 0, ScannedCount: all = 0 } = await client.send(
    new QueryCommand({
      TableName: table,
      IndexName: TABLE.listIndex.name,
      Select: 'COUNT',
      KeyConditionExpression: '#key = :key',
      // Approvals in the same inbox are read, too, but counted separately: nothing has gone wrong.
      FilterExpression: 'begins_with(#sk, :incident)',
      ExpressionAttributeNames: { '#key': TABLE.listIndex.pk, '#sk': TABLE.sk },
      ExpressionAttributeValues: { ':key': { S: shard }, ':incident': { S: INCIDENT_PREFIX } },
    }),
  );
  return { incidents, entries: Math.max(0, all - incidents) };
}
