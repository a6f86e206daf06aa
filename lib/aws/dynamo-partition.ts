/**
 * All items of one partition, strongly read.
 *
 * Owns: the pages of the query. Does not own: the items (`dynamo-items.ts`), which of them count
 * (`dynamo-store.ts`, `dynamo-inventory.ts`).
 */

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Item } from './dynamo-items.ts';

export async function itemsOf(
  client: DynamoDBClient,
  table: string,
  partition: string,
): Promise<{ readonly items: readonly Item[]; readonly pages: number }> {
  const items: Item[] = [];
  let pages = 0;
  let from: Item | undefined;
  do {
    pages += 1;
    const answer = await client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition } },
        ConsistentRead: true,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    items.push(...(answer.Items ?? []));
    from = answer.LastEvaluatedKey;
  } while (from !== undefined);
  return { items, pages };
}
