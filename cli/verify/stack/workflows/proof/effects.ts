/**
 * The external service of verify's agents: a table that records every request as an effect, so that repeated
 * effects are visible.
 *
 * Owns: the table's format. Does not own: reading it from outside (`cli/verify/probes.ts`).
 */

import { randomUUID } from 'node:crypto';
import { DeleteItemCommand, DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { AttemptContext } from 'steadfast';

const client = new DynamoDBClient();
const TableName = (): string => process.env['VERIFY_EFFECTS'] ?? '';

/** The key of a step's effects, the same for all its attempts, derived from the execution's id. */
export const keyOf = ({ executionId, step }: Pick<AttemptContext, 'executionId' | 'step'>): string =>
  `${executionId}/${step}`;

/** Records an effect, even if the key already has one. @returns its id */
export async function act(key: string): Promise<string> {
  const id = randomUUID();
  await client.send(new PutItemCommand({ TableName: TableName(), Item: { key: { S: key }, id: { S: id } } }));
  return id;
}

export async function effectsOf(key: string): Promise<readonly string[]> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: TableName(),
      ConsistentRead: true,
      KeyConditionExpression: '#key = :key',
      ExpressionAttributeNames: { '#key': 'key' },
      ExpressionAttributeValues: { ':key': { S: key } },
    }),
  );
  return Items.map((item) => item['id']?.S ?? '');
}

export async function takeBack(key: string): Promise<void> {
  for (const id of await effectsOf(key))
    await client.send(
      new DeleteItemCommand({ TableName: TableName(), Key: { key: { S: key }, id: { S: id } } }),
    );
}
