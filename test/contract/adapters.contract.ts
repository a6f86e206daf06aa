/** Runs all contracts on the adapters for DynamoDB, with any client that answers their commands. */

import { DeleteItemCommand, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamoBulks } from '../../lib/aws/dynamo-bulks.ts';
import { dynamoErasure, dynamoInventory } from '../../lib/aws/dynamo-inventory.ts';
import { executionKey } from '../../lib/aws/dynamo-items.ts';
import { dynamoMailboxes, mailKey } from '../../lib/aws/dynamo-mailboxes.ts';
import { dynamoReceipts } from '../../lib/aws/dynamo-receipts.ts';
import {
  BREAKER,
  RATE,
  dynamoRecords,
  type Kind,
  OPEN_WAITS,
  PRESENCE,
  WORKFLOW_PAUSE,
} from '../../lib/aws/dynamo-side-records.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { TABLE } from '../../lib/aws/names.ts';
import type { SideRecord } from '../../lib/core/ports.ts';
import type { ExecutionMessage } from '../../lib/core/records/mailbox.ts';
import { describeBulks } from './bulks.contract.ts';
import { dynamoLanes } from '../../lib/aws/dynamo-lanes.ts';
import { describeInventory } from './inventory.contract.ts';
import { describeMailboxes } from './mailboxes.contract.ts';
import { describeLanes } from './lanes.contract.ts';
import { MOST_OPEN } from './lists.contract.ts';
import { describeReceipts } from './receipts.contract.ts';
import {
  BREAKERS,
  RATES,
  describeSideRecords,
  PRESENCES,
  WAITS,
  WORKFLOW_PAUSES,
} from './side-records.contract.ts';
import { describeStore } from './store.contract.ts';

const SHARDS = 2;
const PAGE = 3;

export interface OpenTable {
  readonly client: DynamoDBClient;
  readonly name: string;
  readonly close: () => Promise<void>;
}

/** @param open a new empty state table */
export function describeAdapters(where: string, open: () => Promise<OpenTable>): void {
  describeStore(where, async () => {
    const { client, name, close } = await open();
    const store = dynamoStore(client, { table: name, wakeShards: SHARDS, mostOpen: MOST_OPEN });
    return { store, close };
  });
  describeLanes(where, async () => {
    const { client, name, close } = await open();
    const inventory = dynamoInventory(client, { table: name, wakeShards: SHARDS });
    return { lanes: dynamoLanes(client, name), inventory, close };
  });
  describeMailboxes(where, async () => {
    const { client, name: table, close } = await open();
    const options = { table, wakeShards: SHARDS };
    const goneAt = async ({ executionId, life, id: message }: ExecutionMessage) => {
      const key = mailKey({ kind: 'mail', executionId, life, message, version: 0, writeId: '' });
      const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: key }));
      const seconds = Item?.[TABLE.ttl]?.N;
      return seconds === undefined ? undefined : Number(seconds) * 1_000;
    };
    return {
      store: dynamoStore(client, { ...options, mostOpen: MOST_OPEN }),
      mailboxes: dynamoMailboxes(client, options, async () => undefined),
      audited: { ...dynamoInventory(client, options), ...dynamoErasure(client, options) },
      goneAt,
      close,
    };
  });
  describeInventory(where, async () => {
    const { client, name: table, close } = await open();
    const reshard = (wakeShards: number) => ({
      store: dynamoStore(client, { table, wakeShards }),
      inventory: dynamoInventory(client, { table, wakeShards, items: PAGE }),
      recordsOf: dynamoErasure(client, { table, wakeShards }).recordsOf,
    });
    const expire = async (id: string): Promise<void> => {
      await client.send(new DeleteItemCommand({ TableName: table, Key: executionKey(id) }));
    };
    return { ...reshard(SHARDS), reshard, expire, close };
  });
  describeReceipts(where, async () => {
    const { client, name, close } = await open();
    return { receipts: dynamoReceipts(client, name, SHARDS), close };
  });
  describeBulks(where, async () => {
    const { client, name, close } = await open();
    return { bulks: dynamoBulks(client, name, async () => undefined), close };
  });
  const kept =
    <Kept extends SideRecord, Key extends readonly unknown[]>(kind: Kind<Kept, Key>) =>
    async () => {
      const { client, name, close } = await open();
      return { records: dynamoRecords(client, name, kind), close };
    };
  describeSideRecords(`breakers on ${where}`, BREAKERS, kept(BREAKER));
  describeSideRecords(`rates on ${where}`, RATES, kept(RATE));
  describeSideRecords(`pauses of workflows on ${where}`, WORKFLOW_PAUSES, kept(WORKFLOW_PAUSE));
  describeSideRecords(`presence on ${where}`, PRESENCES, kept(PRESENCE));
  describeSideRecords(`open waits on ${where}`, WAITS, kept(OPEN_WAITS));
}
