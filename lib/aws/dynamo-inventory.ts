/**
 * The state table without its indexes, for the audit and an erasure.
 *
 * Owns: the scan (eventually consistent, at half the price), reading all records of one id, removing one
 * record. Does not own: which records are out of order or left behind (`core/supervision/audit.ts`).
 */

import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  ScanCommand,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  type Found,
  type FoundInput,
  type FoundQueued,
  recordOf,
  type Removable,
} from '../core/supervision/audit.ts';
import type { Erasure, Inventory } from '../core/ports.ts';
import {
  executionKey,
  executionOf,
  executionPartition,
  idOfKey,
  inputKeyOf,
  inputSk,
  isExecutionItem,
  isInputItem,
  isQuestionItem,
  questionKeyOf,
  questionOf,
  isStepItem,
  type Item,
  number,
  refuseOtherForm,
  stepKey,
  stepOf,
  text,
} from './dynamo-items.ts';
import { shardsOf, WAKE_KEY } from './dynamo-indexes.ts';
import { LANE_PREFIX, queuedIn, queuedKey } from './dynamo-lanes.ts';
import {
  executionOfMailbox,
  isOfMailbox,
  MAILBOX_PREFIX,
  mailboxPartition,
  mailIn,
  mailKey,
} from './dynamo-mailboxes.ts';
import { itemsOf } from './dynamo-partition.ts';
import { TABLE } from './names.ts';

export interface InventoryOptions {
  readonly table: string;
  readonly wakeShards: number;
  /** How many items a page has. @default as many as DynamoDB reads at once, 1 MB */
  readonly items?: number;
}

/** The partitions that an audit reads. */
const READ = {
  ':executions': { S: 'exec#' },
  ':lanes': { S: LANE_PREFIX },
  ':mailboxes': { S: MAILBOX_PREFIX },
};
const FILTER = Object.keys(READ)
  .map((prefix) => `begins_with(#pk, ${prefix})`)
  .join(' OR ');

export function dynamoInventory(client: DynamoDBClient, options: InventoryOptions): Inventory {
  const { table, wakeShards, items } = options;
  return {
    page: async (segment, cursor) => {
      const answer = await client.send(
        new ScanCommand({
          TableName: table,
          Segment: segment.index,
          TotalSegments: segment.of,
          FilterExpression: FILTER,
          ExpressionAttributeNames: { '#pk': TABLE.pk },
          ExpressionAttributeValues: READ,
          ...(items === undefined ? {} : { Limit: items }),
          ...(cursor === undefined ? {} : { ExclusiveStartKey: JSON.parse(cursor) as Item }),
        }),
      );
      const found = (answer.Items ?? []).flatMap((item) => foundIn(item, wakeShards));
      const last = answer.LastEvaluatedKey;
      return last === undefined ? { items: found } : { items: found, cursor: JSON.stringify(last) };
    },
    remove: dynamoErasure(client, options).remove,
  };
}

/** The reads and removals on the table that an erasure needs. */
export function dynamoErasure(
  client: DynamoDBClient,
  { table, wakeShards }: InventoryOptions,
): Pick<Erasure, 'recordsOf' | 'remove'> {
  return {
    recordsOf: async (executionId) => {
      // Read the mailbox first: then the execution of each message found is there, or gone for good.
      const mail = await itemsOf(client, table, mailboxPartition(executionId));
      const own = await itemsOf(client, table, executionPartition(executionId));
      return [...own.items, ...mail.items].flatMap((item) => foundIn(item, wakeShards));
    },
    remove: async (found) => {
      if (found.kind === 'queued') {
        const key = queuedKey(found.lane, found.queued);
        await client.send(new DeleteItemCommand({ TableName: table, Key: key }));
        return 'removed';
      }
      const { version, writeId } = recordOf(found);
      try {
        await client.send(
          new DeleteItemCommand({
            TableName: table,
            Key: keyOf(found),
            ConditionExpression: '#version = :found AND #writeId = :writeId',
            ExpressionAttributeNames: { '#version': 'version', '#writeId': 'writeId' },
            ExpressionAttributeValues: { ':found': { N: String(version) }, ':writeId': { S: writeId } },
          }),
        );
        return 'removed';
      } catch (error) {
        // A transaction is writing the record now, so it is no longer the record that was found.
        const isBeingWritten = error instanceof TransactionConflictException;
        if (isBeingWritten || error instanceof ConditionalCheckFailedException) return 'conflict';
        throw error;
      }
    },
  };
}

function keyOf(found: Exclude<Removable, FoundQueued>): Item {
  if (found.kind === 'execution') return executionKey(found.execution.id);
  if (found.kind === 'input')
    return { ...executionKey(found.executionId), [TABLE.sk]: { S: inputSk(found.key) } };
  if (found.kind === 'mail') return mailKey(found);
  if (found.kind === 'step') return stepKey(found.executionId, found.step.name);
  return questionKeyOf(found.executionId, found.question);
}

/** Reads an item as the audit sees it; none for a kind of record that this code does not know. */
function foundIn(item: Item, wakeShards: number): Found[] {
  const isMail = isOfMailbox(item);
  const executionId = isMail ? executionOfMailbox(item) : idOfKey(item);
  try {
    if (isMail) return [mailIn(item)];
    const place = queuedIn(item);
    if (place !== undefined) return [{ kind: 'queued', executionId: place.queued.id, ...place }];
    if (isExecutionItem(item)) {
      return [{ kind: 'execution', execution: executionOf(item), wake: wakePlace(item, wakeShards) }];
    }
    if (isStepItem(item)) return [{ kind: 'step', executionId, step: stepOf(item) }];
    if (isInputItem(item)) return [inputFound(item, executionId)];
    return isQuestionItem(item) ? [{ kind: 'question', executionId, question: questionOf(item) }] : [];
  } catch {
    return [{ kind: 'unreadable', executionId }];
  }
}

/**
 * Where the index has an execution's wake time: nowhere, in a shard that supervisors sweep, or in another.
 */
function wakePlace(item: Item, wakeShards: number): 'none' | 'unswept' | 'swept' {
  if (item[TABLE.wakeIndex.sk] === undefined) return 'none';
  return shardsOf(WAKE_KEY, wakeShards).includes(text(item, TABLE.wakeIndex.pk)) ? 'swept' : 'unswept';
}

function inputFound(item: Item, executionId: string): FoundInput {
  refuseOtherForm(item);
  return {
    kind: 'input',
    executionId,
    key: inputKeyOf(item),
    version: number(item, 'version'),
    writeId: text(item, 'writeId'),
    storedAt: number(item, 'storedAt'),
  };
}
