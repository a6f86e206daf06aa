/** The order in which an erasure reads all items of an id. */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoErasure } from '../../lib/aws/dynamo-inventory.ts';

it('the mailbox is read before the execution: a reader that sees messages of a new life sees that life', async () => {
  const asked: string[] = [];
  let underWay = 0;
  const send = async ({ input }: { readonly input: unknown }): Promise<object> => {
    underWay += 1;
    asked.push(`${underWay} ${/(exec|mailbox)#e-1/.exec(JSON.stringify(input))?.[1]}`);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return { Items: [] };
  };
  const client = { send } as unknown as DynamoDBClient;
  await dynamoErasure(client, { table: 't', wakeShards: 4 } as never).recordsOf('e-1');
  expect(asked).toEqual(['1 mailbox', '1 exec']);
});
