/**
 * Conditional puts of whole records, one or several together.
 *
 * Owns: the one condition (the stored record is one version behind), and whose write it was that an ambiguous answer hid.
 * Does not own: the items (`dynamo-items.ts`).
 *
 * S3, S15: a write that is repeated counts as written, and is written once.
 */

import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { WriteResult } from '../core/ports.ts';
import { type Item, text } from './dynamo-items.ts';

/** Two writers met in one transaction; DynamoDB asks to try again. */
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

/** The one condition: what is stored is one version behind. */
export function conditional(table: string, item: Item, record: { readonly version: number }): Put {
  const common = { TableName: table, Item: item, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  if (record.version === 1) return { ...common, ConditionExpression: 'attribute_not_exists(pk)' };
  return {
    ...common,
    ConditionExpression: '#version = :behind',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':behind': { N: String(record.version - 1) } },
  };
}

export type PutResult = { readonly kind: WriteResult; readonly stored?: Item | undefined };

export async function putOne(client: DynamoDBClient, put: Put): Promise<PutResult> {
  try {
    await client.send(new PutItemCommand(put));
    return { kind: 'written' };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // The SDK may have sent it twice because the first answer was lost: then what is stored is our own write.
    return isOurs(put, error.Item) ? { kind: 'written' } : { kind: 'conflict', stored: error.Item };
  }
}

const isOurs = (put: Put, stored: Item | undefined): boolean =>
  stored !== undefined && text(stored, 'writeId') === text(put.Item, 'writeId');

export async function putTogether(
  client: DynamoDBClient,
  puts: readonly Put[],
  pause: (ms: number) => Promise<void>,
): Promise<WriteResult> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      await client.send(new TransactWriteItemsCommand({ TransactItems: puts.map((put) => ({ Put: put })) }));
      return 'written';
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const failed = reasons.some((reason) => reason.Code === 'ConditionalCheckFailed');
      if (failed) return puts.every((put, at) => isOurs(put, reasons[at]?.Item)) ? 'written' : 'conflict';
      const busy = reasons.some((reason) => reason.Code === 'TransactionConflict');
      if (!busy || conflicts >= MAX_TRANSACTION_CONFLICTS) throw error;
      await pause(Math.random() * CONFLICT_PAUSE_MS * 2 ** conflicts);
    }
  }
}
