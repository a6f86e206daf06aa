/**
 * The store on DynamoDB.
 *
 * Owns: which records are written together, strongly consistent reads. Does not own: the lists that only the
 * API reads (without them an agent's code is 2 % smaller; `dynamo-lists.ts`), the items' form
 * (`dynamo-items.ts`), the condition of a write (`dynamo-put.ts`), or the consequences of a conflict (the
 * roles).
 *
 * S11 `create` never overwrites. Every write has a condition.
 */

import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import type { Plan } from '../core/plan/plan.ts';
import type { Due, Page, Store } from '../core/ports.ts';
import type { Write } from '../core/decisions/decision.ts';
import { type Question, questionKey } from '../core/records/question.ts';
import type { SentMessage } from '../core/records/mailbox.ts';
import { defined } from '../core/values/defined.ts';
import { isLeftover, isOfEarlierLife } from '../core/records/retention.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { Execution, Step } from '../core/records/state.ts';
import { inputApart, inputIn, putInput } from './dynamo-inputs.ts';
import {
  executionItem,
  executionKey,
  executionOf,
  executionPartition,
  idOfKey,
  inputKeyOf,
  inputSk,
  isExecutionItem,
  isQuestionItem,
  isStepItem,
  type Item,
  number,
  planItem,
  planKey,
  planOf,
  questionItem,
  questionOf,
  stepItem,
  stepKey,
  stepOf,
  text,
} from './dynamo-items.ts';
import { wakeShardKey } from './dynamo-indexes.ts';
import { itemsOf } from './dynamo-partition.ts';
import { overLeftovers } from './dynamo-leftovers.ts';
import type { ListOptions } from './dynamo-list.ts';
import { executionOfMailbox, isOfMailbox, lifeOfMailbox, sentPuts, takenPuts } from './dynamo-mailboxes.ts';
import { dynamoLists, type Lists } from './dynamo-lists.ts';
import { conditional, instead, type Put, putAll, putOne, type PutResult } from './dynamo-put.ts';
import { TABLE } from './names.ts';

/** How many items a page of the wake index has by default. */
const DUE_PAGE = 200;
/** How often a partition of several pages is read until its execution has not changed in between. */
const MAX_PARTITION_READS = 5;

export interface DynamoOptions extends ListOptions {
  /** How long an ended execution is kept. @default for ever */
  readonly retentionMs?: number;
  /** Pauses between tries of a transaction that conflicted with another. @default none */
  readonly pause?: (ms: number) => Promise<void>;
}

export const dynamoStore = (client: DynamoDBClient, options: DynamoOptions): Store => ({
  ...unlistedStore(client, options),
  ...dynamoLists(client, options),
});

/** The store for the roles that list nothing. */
export function unlistedStore(client: DynamoDBClient, options: DynamoOptions): Omit<Store, keyof Lists> {
  const { table, wakeShards, retentionMs, pause = async () => undefined } = options;
  const itemOf = (execution: Execution): Item => executionItem(execution, wakeShards, retentionMs);
  const readExecution: Store['readExecution'] = async (executionId) => {
    const item = await getItem(client, table, executionKey(executionId));
    return item && executionOf(item);
  };
  return {
    shards: wakeShards,
    writePlan: (hash, plan) => writePlan(client, table, hash, plan),
    readPlan: async (hash) => {
      const item = await getItem(client, table, planKey(hash));
      return item && planOf(item);
    },
    create: async (execution, isNewId = false, first?: SentMessage) => {
      const isRemoved = retentionMs !== undefined;
      const input = inputApart(execution, itemOf(execution), isRemoved);
      if (input !== undefined) {
        const existing = isNewId ? undefined : await existingBefore(client, table, execution);
        if (existing !== undefined) return asWritten(existing, execution);
        await putInput(client, table, input);
      }
      const own = itemOf(input === undefined ? execution : { ...execution, inputKey: inputKeyOf(input) });
      const put = conditional(table, own, execution);
      const sent = first === undefined ? [] : sentPuts(table, first, wakeShards);
      let { kind, stored } = await putFirst(client, [put, ...sent], pause);
      if (stored !== undefined && isOfEarlierLife(executionOf(stored), execution.parent))
        ({ kind, stored } = await putOne(client, instead(put, stored)));
      if (kind === 'written') return 'written';
      if (stored !== undefined) return executionOf(stored);
      const item = await getItem(client, table, executionKey(execution.id));
      // The table answered that the execution exists, but a read did not find it: the caller must ask again.
      if (item === undefined) throw new Error('the execution exists but could not be read');
      return asWritten(executionOf(item), execution);
    },
    read: (executionId) => readSnapshot(client, table, executionId),
    readSteps: (executionId, steps, withInput = true) =>
      readSteps(client, table, executionId, steps, withInput),
    readExecution,
    write: async (write) => {
      const puts = putsOf(table, write, itemOf, wakeShards);
      const { kind, stored } = await putAll(client, puts, pause);
      const over =
        kind === 'written'
          ? undefined
          : await overLeftovers(puts, stored, () => readExecution(write.executionId));
      return over === undefined ? kind : (await putAll(client, over, pause)).kind;
    },
    due: (shard, untilAt, cursor, limit) => readDue(client, table, { shard, untilAt, limit, cursor }),
  };
}

function putsOf(
  table: string,
  write: Write,
  itemOf: (execution: Execution) => Item,
  wakeShards: number,
): Put[] {
  const { executionId, execution, step, question, taken } = write;
  return [
    ...(execution === undefined ? [] : [conditional(table, itemOf(execution), execution)]),
    ...(step === undefined ? [] : [conditional(table, stepItem(executionId, step), step)]),
    ...(question === undefined ? [] : [conditional(table, questionItem(executionId, question), question)]),
    ...(taken === undefined ? [] : takenPuts(table, taken, wakeShards)),
  ];
}

/** Writes all the puts. After a conflict, returns the item that was in the way of the first. */
async function putFirst(
  client: DynamoDBClient,
  puts: readonly Put[],
  pause: (ms: number) => Promise<void>,
): Promise<PutResult> {
  const { kind, stored } = await putAll(client, puts, pause);
  return { kind, stored: stored[0] };
}

/** A create that is repeated because its answer was lost finds its own write (S15). */
const asWritten = (existing: Execution, wanted: Execution): Execution | 'written' =>
  existing.writeId === wanted.writeId ? 'written' : existing;

/**
 * Looks for an execution that a start with a key would only repeat, so that its input is not stored a second
 * time: with a cheap read first, and a strong one only if that finds it. A child needs no read: its parent
 * knows which children it has started.
 */
async function existingBefore(
  client: DynamoDBClient,
  table: string,
  { id, parent }: Execution,
): Promise<Execution | undefined> {
  const key = executionKey(id);
  if (parent !== undefined || (await getItem(client, table, key, false)) === undefined) return undefined;
  const existing = await getItem(client, table, key);
  return existing && executionOf(existing);
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
    // The plan is addressed by its content, so the stored one is the same.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}

async function getItem(
  client: DynamoDBClient,
  table: string,
  key: Item,
  ConsistentRead = true,
): Promise<Item | undefined> {
  const answer = await client.send(new GetItemCommand({ TableName: table, Key: key, ConsistentRead }));
  return answer.Item;
}

/**
 * A query is not a snapshot: its first page may be older than its last. One page is consistent enough here.
 * With several, the execution must be the same before and after, or a new step could be combined with a
 * status from before a cancel.
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
  const { items, pages } = await itemsOf(client, table, executionPartition(executionId));
  const execution = items.find(isExecutionItem);
  if (execution === undefined) return { snapshot: undefined, pages };
  const steps = items.filter(isStepItem).map(stepOf);
  const questions = items.filter(isQuestionItem).map(questionOf);
  const key = execution['inputKey']?.S;
  const input = key === undefined ? undefined : inputIn(items, key);
  return { snapshot: snapshotOf(executionOf(execution, input), { steps, questions }), pages };
}

/** Reads steps with strong consistency; the execution is read only after the other reads have answered. */
async function readSteps(
  client: DynamoDBClient,
  table: string,
  executionId: string,
  names: readonly string[],
  withInput: boolean,
): Promise<Snapshot | undefined> {
  const keys = names.map((name) => stepKey(executionId, name));
  const items = (await Promise.all(keys.map((key) => getItem(client, table, key)))).filter(
    (item) => item !== undefined,
  );
  const key = executionKey(executionId);
  const own = await getItem(client, table, key);
  if (own === undefined) return undefined;
  const inputKey = own['inputKey']?.S;
  const steps = items.map(stepOf);
  if (inputKey === undefined || !withInput) return partOf(executionOf(own));
  const input = await getItem(client, table, { ...key, [TABLE.sk]: { S: inputSk(inputKey) } });
  const inputs = input === undefined ? [] : [input];
  return partOf(executionOf(own, inputIn(inputs, inputKey)));

  function partOf(execution: Execution): Snapshot {
    return { ...snapshotOf(execution, { steps }), isReadInPart: true };
  }
}

/** Leaves out records that an earlier life of the same id has left behind. */
function snapshotOf(
  execution: Execution,
  beside: {
    readonly steps: readonly Step[];
    readonly questions?: readonly Question[];
  },
): Snapshot {
  const own = <Kept extends Step | Question>(
    records: readonly Kept[] = [],
    keyOf: (record: Kept) => string,
  ): Readonly<Record<string, Kept>> | undefined => {
    const kept = records.filter((record) => !isLeftover(record, execution));
    return kept.length === 0 ? undefined : Object.fromEntries(kept.map((record) => [keyOf(record), record]));
  };
  return {
    execution,
    steps: own(beside.steps, ({ name }) => name) ?? {},
    ...defined({ questions: own(beside.questions, questionKey) }),
  };
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
      IndexName: TABLE.wakeIndex.name,
      KeyConditionExpression: '#shard = :shard AND #at <= :until',
      ExpressionAttributeNames: { '#shard': TABLE.wakeIndex.pk, '#at': TABLE.wakeIndex.sk },
      ExpressionAttributeValues: { ':shard': { S: wakeShardKey(shard) }, ':until': { N: String(untilAt) } },
      Limit: limit,
      ...(cursor === undefined ? {} : { ExclusiveStartKey: JSON.parse(cursor) as Item }),
    }),
  );
  const items = (answer.Items ?? []).map((item) => ({
    ...(isOfMailbox(item)
      ? { executionId: executionOfMailbox(item), mailbox: true as const, life: lifeOfMailbox(item) }
      : { executionId: idOfKey(item) }),
    wakeAt: number(item, TABLE.wakeIndex.sk),
    ...(item['fairGroup'] === undefined ? {} : { group: text(item, 'fairGroup') }),
  }));
  const next = answer.LastEvaluatedKey;
  return next === undefined ? { items } : { items, cursor: JSON.stringify(next) };
}
