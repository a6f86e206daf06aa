/**
 * Stores the latest planned time of each schedule in the file.
 *
 * Owns: its item. Does not own: its use (`schedules.ts`). The item is outside the executions; nothing else
 * reads it.
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
  // A clock that was set back plans an earlier time again; its start is the same (S11).
  write: async (trigger, at) => {
    const Item = { ...keyOf(trigger), at: { N: String(at) } };
    await client.send(new PutItemCommand({ TableName, Item }));
  },
});
