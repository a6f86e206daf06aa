/**
 * The store on DynamoDB.
 *
 * Owns: what is written together, strongly consistent reads, both indexes. Does not own: the items' form
 * (`dynamo-items.ts`), the condition of a write (`dynamo-put.ts`), or what a conflict means (the roles).
 *
 * S11 `create` never overwrites. No write without a condition anywhere.
 */

import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import type { Write } from '../core/decide.ts';
import type { Plan } from '../core/plan.ts';
import type { Due, ListQuery, Page, Store } from '../core/ports.ts';
import type { Execution, Snapshot } from '../core/state.ts';
import {
  executionItem,
  executionKey,
  executionOf,
  idOfKey,
  incidentItem,
  incidentOf,
  isExecutionItem,
  isIncidentItem,
  isStepItem,
  type Item,
  number,
  planItem,
  planKey,
  planOf,
  stepItem,
  stepOf,
  watchShardKey,
} from './dynamo-items.ts';
import { openIncidentsPage } from './dynamo-incidents.ts';
import { listPage } from './dynamo-list.ts';
import { conditional, type Put, putOne, putTogether } from './dynamo-put.ts';
import { TABLE } from './names.ts';

/** Items of one page of the watch index; a page of keys is far below DynamoDB's 1 MB. */
const DUE_PAGE = 200;
/** Reads of a partition of several pages until the execution stood still meanwhile. */
const MAX_PARTITION_READS = 5;

export interface DynamoOptions {
  readonly table: string;
  readonly watchShards: number;
  /** Waits between tries of a transaction that met another. @default none */
  readonly pause?: (ms: number) => Promise<void>;
}

export function dynamoStore(client: DynamoDBClient, options: DynamoOptions): Store {
  const { table, watchShards, pause = async () => undefined } = options;
  const putOf = (write: Write): Put[] => [
    ...(write.execution === undefined
      ? []
      : [conditional(table, executionItem(write.execution, watchShards), write.execution)]),
    ...(write.step === undefined
      ? []
      : [conditional(table, stepItem(write.executionId, write.step), write.step)]),
    ...(write.incident === undefined
      ? []
      : [conditional(table, incidentItem(write.executionId, write.incident), write.incident)]),
  ];
  return {
    shards: watchShards,
    writePlan: (hash, plan) => writePlan(client, table, hash, plan),
    readPlan: async (hash) => {
      const item = await getItem(client, table, planKey(hash));
      return item && planOf(item);
    },
    create: async (execution) => {
      const result = await putOne(
        client,
        conditional(table, executionItem(execution, watchShards), execution),
      );
      if (result.kind === 'written') return 'written';
      if (result.stored !== undefined) return executionOf(result.stored);
      const item = await getItem(client, table, executionKey(execution.id));
      // Answered "exists" and then not found: the caller knows nothing and must ask again.
      if (item === undefined) throw new Error('the execution exists but could not be read');
      return executionOf(item);
    },
    read: (executionId) => readSnapshot(client, table, executionId),
    readExecution: async (executionId) => {
      const item = await getItem(client, table, executionKey(executionId));
      return item && executionOf(item);
    },
    write: async (write) => {
      const puts = putOf(write);
      const [first] = puts;
      if (first === undefined) return 'written';
      return puts.length === 1 ? (await putOne(client, first)).kind : putTogether(client, puts, pause);
    },
    due: (shard, untilAt, cursor, limit) => readDue(client, table, { shard, untilAt, limit, cursor }),
    openIncidents: (limit, cursor) => openIncidentsPage(client, table, limit, cursor),
    list: (query: ListQuery): Promise<Page<Execution>> => listPage(client, table, query),
  };
}

async function writePlan(client: DynamoDBClient, table: string, hash: string, plan: Plan): Promise<void> {
  try {
    await client.send(
      new PutItemCommand({
        TableName: table,
        Item: planItem(hash, plan),
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    );
  } catch (error) {
    // The plan is addressed by its content: whoever put it there put the same.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}

async function getItem(client: DynamoDBClient, table: string, key: Item): Promise<Item | undefined> {
  const answer = await client.send(new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true }));
  return answer.Item;
}

/**
 * A query is no snapshot: its first page may be older than its last. One page is read at once as far as matters here; with
 * several, the execution must be the same after the last page as on the first, or a step's news could be taken together
 * with a status from before a cancel.
 */
async function readSnapshot(
  client: DynamoDBClient,
  table: string,
  executionId: string,
): Promise<Snapshot | undefined> {
  for (let reads = 0; reads < MAX_PARTITION_READS; reads += 1) {
    const { snapshot, pages } = await readPartition(client, table, executionId);
    if (snapshot === undefined || pages === 1) return snapshot;
    const now = await getItem(client, table, executionKey(executionId));
    if (now !== undefined && number(now, 'version') === snapshot.execution.version) return snapshot;
  }
  throw new Error('the execution changed during every read');
}

async function readPartition(
  client: DynamoDBClient,
  table: string,
  executionId: string,
): Promise<{ snapshot: Snapshot | undefined; pages: number }> {
  const items: Item[] = [];
  let from: Item | undefined;
  let pages = 0;
  do {
    pages += 1;
    const answer = await client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': executionKey(executionId)['pk'] ?? { NULL: true } },
        ConsistentRead: true,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    items.push(...(answer.Items ?? []));
    from = answer.LastEvaluatedKey;
  } while (from !== undefined);
  const execution = items.find(isExecutionItem);
  if (execution === undefined) return { snapshot: undefined, pages };
  const steps = items.filter(isStepItem).map(stepOf);
  const incidents = items.filter(isIncidentItem).map(incidentOf);
  const snapshot = {
    execution: executionOf(execution),
    steps: Object.fromEntries(steps.map((step) => [step.name, step])),
    ...(incidents.length === 0
      ? {}
      : { incidents: Object.fromEntries(incidents.map((one) => [one.number, one])) }),
  };
  return { snapshot, pages };
}

async function readDue(
  client: DynamoDBClient,
  table: string,
  query: {
    readonly shard: number;
    readonly untilAt: number;
    readonly limit: number | undefined;
    readonly cursor: string | undefined;
  },
): Promise<Page<Due>> {
  const { shard, untilAt, limit = DUE_PAGE, cursor } = query;
  const answer = await client.send(
    new QueryCommand({
      TableName: table,
      IndexName: TABLE.watchIndex.name,
      KeyConditionExpression: '#shard = :shard AND #at <= :until',
      ExpressionAttributeNames: { '#shard': TABLE.watchIndex.pk, '#at': TABLE.watchIndex.sk },
      ExpressionAttributeValues: { ':shard': { S: watchShardKey(shard) }, ':until': { N: String(untilAt) } },
      Limit: Math.min(limit, DUE_PAGE),
      ...(cursor === undefined ? {} : { ExclusiveStartKey: JSON.parse(cursor) as Item }),
    }),
  );
  const items = (answer.Items ?? []).map((item) => ({
    executionId: idOfKey(item),
    watchAt: number(item, TABLE.watchIndex.sk),
  }));
  const next = answer.LastEvaluatedKey;
  return next === undefined ? { items } : { items, cursor: JSON.stringify(next) };
}
