/**
 * The latest planned time of each schedule, in the file.
 *
 * Owns: its item. Does not own: what follows from it (`schedules.ts`). It is beside the executions; elsewhere
 * nothing reads it.
 */

import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../lib/aws/names.ts';
import type { Planned } from './schedules.ts';

const keyOf = (trigger: string): Record<string, { readonly S: string }> => ({
  [TABLE.pk]: { S: `schedule#${trigger}` },
  [TABLE.sk]: { S: 'planned' },
});

export const plannedIn = (client: DynamoDBClient, TableName: string): Planned => ({
  read: async (trigger) => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName, Key: keyOf(trigger), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : Number(Item['at']?.N);
  },
  write: async (trigger, at) => {
    try {
      await client.send(
        new PutItemCommand({
          TableName,
          Item: { ...keyOf(trigger), at: { N: String(at) } },
          ConditionExpression: 'attribute_not_exists(#pk) OR #at < :at',
          ExpressionAttributeNames: { '#pk': TABLE.pk, '#at': 'at' },
          ExpressionAttributeValues: { ':at': { N: String(at) } },
        }),
      );
    } catch (error) {
      // A later time is kept: none is begun twice.
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },
});
