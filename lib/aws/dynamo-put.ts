/**
 * Conditional puts of whole records, one or several together.
 *
 * Owns: the one condition (the stored record is one version behind), and, after an ambiguous answer, finding
 * out whether the stored write is our own. Does not own: the items (`dynamo-items.ts`).
 *
 * Writes whole records: updates of fields would spell out each move of `core/transitions.ts` a second time.
 * Each later write pays for a large output again, but a healthy step has no later write.
 *
 * S3, S15: a write that is repeated counts as written, and is written once.
 */

import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { WriteResult } from '../core/ports.ts';
import { type Item, text } from './dynamo-items.ts';

/**
 * Reasons for which DynamoDB cancels a transaction that may succeed when retried: another writer, or no
 * capacity.
 */
const BUSY: ReadonlySet<string | undefined> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);
const MAX_TRANSACTION_CONFLICTS = 5;
const CONFLICT_PAUSE_MS = 20;

export interface Put {
  readonly TableName: string;
  readonly Item: Item;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Item;
  readonly ReturnValuesOnConditionCheckFailure: 'ALL_OLD';
}

/** The one condition: the stored record is one version behind, and of the same life, if it has one. */
export function conditional(
  table: string,
  item: Item,
  record: { readonly version: number; readonly life?: string },
): Put {
  const common = { TableName: table, Item: item, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  if (record.version === 1) return { ...common, ConditionExpression: 'attribute_not_exists(pk)' };
  const { life } = record;
  const behind = { ':behind': { N: String(record.version - 1) } };
  const version = { '#version': 'version' };
  if (life === undefined)
    return {
      ...common,
      ConditionExpression: '#version = :behind',
      ExpressionAttributeNames: version,
      ExpressionAttributeValues: behind,
    };
  return {
    ...common,
    ConditionExpression: '#version = :behind AND #life = :life',
    ExpressionAttributeNames: { ...version, '#life': 'life' },
    ExpressionAttributeValues: { ...behind, ':life': { S: life } },
  };
}

export interface PutResult {
  readonly kind: WriteResult;
  /** After a conflict: the item in the way, if DynamoDB returned it. */
  readonly stored?: Item | undefined;
}

/** The condition for replacing an item in the way: it is still the very item that was found. */
export const instead = (put: Put, stored: Item): Put => ({
  ...put,
  ConditionExpression: '#version = :found AND #writeId = :writeId',
  ExpressionAttributeNames: { '#version': 'version', '#writeId': 'writeId' },
  ExpressionAttributeValues: {
    ':found': { N: stored['version']?.N ?? '' },
    ':writeId': { S: text(stored, 'writeId') },
  },
});

export async function putOne(client: DynamoDBClient, put: Put): Promise<PutResult> {
  try {
    await client.send(new PutItemCommand(put));
    return { kind: 'written' };
  } catch (error) {
    // A transaction is writing the record now, so another write comes before this one.
    if (error instanceof TransactionConflictException) return { kind: 'conflict' };
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // The SDK may have sent it twice because the first answer was lost: then the stored item is ours.
    return isOurs(put, error.Item) ? { kind: 'written' } : { kind: 'conflict', stored: error.Item };
  }
}

export interface PutsResult {
  readonly kind: WriteResult;
  /** After a conflict: for each put, the item in its way, if DynamoDB returned it. */
  readonly stored: readonly (Item | undefined)[];
}

const isOurs = (put: Put, stored: Item | undefined): boolean =>
  stored !== undefined && text(stored, 'writeId') === text(put.Item, 'writeId');

async function putTogether(
  client: DynamoDBClient,
  puts: readonly Put[],
  pause: (ms: number) => Promise<void>,
): Promise<PutsResult> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      await client.send(new TransactWriteItemsCommand({ TransactItems: puts.map((put) => ({ Put: put })) }));
      return { kind: 'written', stored: [] };
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const failed = reasons.some((reason) => reason.Code === 'ConditionalCheckFailed');
      const ours = puts.every((put, at) => isOurs(put, reasons[at]?.Item));
      if (failed) return { kind: ours ? 'written' : 'conflict', stored: reasons.map(({ Item }) => Item) };
      const busy = reasons.some(({ Code }) => BUSY.has(Code));
      if (!busy || conflicts >= MAX_TRANSACTION_CONFLICTS) throw error;
      await pause(Math.random() * CONFLICT_PAUSE_MS * 2 ** conflicts);
    }
  }
}

/** One put alone, or several in a transaction. */
export async function putAll(
  client: DynamoDBClient,
  puts: readonly Put[],
  pause: (ms: number) => Promise<void>,
): Promise<PutsResult> {
  const [first] = puts;
  if (first === undefined) return { kind: 'written', stored: [] };
  if (puts.length > 1) return putTogether(client, puts, pause);
  const { kind, stored } = await putOne(client, first);
  return { kind, stored: [stored] };
}
