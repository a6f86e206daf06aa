/**
 * DynamoDB's errors, in the form with which the SDK's clients reject.
 *
 * Owns: their classes and names. Does not own: when one occurs (`commands.ts`, `pages.ts`, `expressions.ts`),
 * what goes wrong with the file (`trouble.ts`).
 *
 * A refused command has written nothing, and does not affect the other commands of its commit.
 */

import {
  type CancellationReason,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  ResourceNotFoundException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import type { Item } from './values.ts';

const $metadata = {};

/** The SDK has no class for this error. */
export const invalid = (message: string): DynamoDBServiceException =>
  new DynamoDBServiceException({ name: 'ValidationException', $fault: 'client', message, $metadata });

export const conditionFailed = (stored: Item | undefined): ConditionalCheckFailedException =>
  new ConditionalCheckFailedException({
    message: 'The conditional request failed',
    $metadata,
    ...(stored === undefined ? {} : { Item: stored }),
  });

export const noSuchTable = (): ResourceNotFoundException =>
  new ResourceNotFoundException({ message: 'Requested resource not found', $metadata });

/** @param reasons one for each part, in their order */
export function canceled(reasons: readonly CancellationReason[]): TransactionCanceledException {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new TransactionCanceledException({
    message: `The transaction was canceled, for these reasons: [${codes}]`,
    $metadata,
    CancellationReasons: [...reasons],
  });
}
