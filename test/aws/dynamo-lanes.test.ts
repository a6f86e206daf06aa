/** The queue of a lane on DynamoDB when a call is refused. */

import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { dynamoLanes } from '../../lib/aws/dynamo-lanes.ts';
import { TABLE } from '../../lib/aws/names.ts';
import { MAX_DURATION_MS } from '../../lib/core/values/duration.ts';

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

test('who waits as long as can be is not removed from the queue, also with the highest priority', async () => {
  const mock = mockClient(new DynamoDBClient({})).resolves({});
  const queuedAt = 1_700_000_000_000;
  const place = queuedAt - 0.9 * MAX_DURATION_MS;
  await dynamoLanes(mock as never, 'table').queue('l1', { ...own, place });
  const goneAt = Number(mock.commandCalls(PutItemCommand)[0]?.args[0].input.Item?.[TABLE.ttl]?.N) * 1_000;
  expect(goneAt).toBeGreaterThan(queuedAt + MAX_DURATION_MS);
});
