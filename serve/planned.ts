/**
 * Stores the latest planned time of each schedule in the file.
 *
 * Owns: the item, which only this file reads. Does not own: the use of the time (`schedules.ts`).
 */

import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
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
  // If the clock was set back, an earlier time is planned again, and its start has the same key (S11).
  write: async (trigger, at) => {
    const Item = { ...keyOf(trigger), at: { N: String(at) } };
    await client.send(new PutItemCommand({ TableName, Item }));
  },
});
