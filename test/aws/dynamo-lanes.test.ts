/** The queue of a lane on DynamoDB, where a call is refused. */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { dynamoLanes } from '../../lib/aws/dynamo-lanes.ts';

const own = { id: 'e-1', life: 'x', epoch: 1, place: 5 };

function leaving(name: string): Promise<void> {
  const client = new DynamoDBClient({});
  mockClient(client).rejects(Object.assign(new Error('no'), { name }));
  return dynamoLanes(client, 'table').unqueue('l1', own);
}

test('who leaves goes on where the deployment has dropped its last lane, and may delete nothing', async () => {
  await expect(leaving('AccessDeniedException')).resolves.toBeUndefined();
});

test('who leaves tries again after any other refusal', async () => {
  await expect(leaving('ThrottlingException')).rejects.toThrow('no');
});
