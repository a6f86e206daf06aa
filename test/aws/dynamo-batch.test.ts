/** Batch reads of a table that is too busy to return all items at once. */

import { BatchGetItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { readItems } from '../../lib/aws/dynamo-batch.ts';

const client = new DynamoDBClient({ region: 'us-east-1' });
const dynamo = mockClient(client);
beforeEach(() => dynamo.reset());

const KEY = { pk: { S: 'exec#e-1' }, sk: { S: 'exec' } };

test('a throttled table is asked again after pauses that grow to a bound, and no more than ten times', async () => {
  const happened: (number | 'asked')[] = [];
  dynamo.on(BatchGetItemCommand).callsFake(() => {
    happened.push('asked');
    return { Responses: {}, UnprocessedKeys: { state: { Keys: [KEY] } } };
  });
  const pause = async (ms: number): Promise<void> => void happened.push(ms);
  await expect(readItems(client, 'state', [KEY], pause)).rejects.toThrow('too busy');
  const pauses = happened.filter((each) => each !== 'asked');
  expect(happened.map((each) => (each === 'asked' ? each : 'paused'))).toEqual([
    'asked',
    ...pauses.flatMap(() => ['paused', 'asked']),
  ]);
  expect(pauses).toHaveLength(9);
  // Each is shorter than its bound at random: two callers that were throttled together do not come back
  // together.
  pauses.forEach((ms, at) => expect(ms).toBeLessThan(Math.min(400, 25 * 2 ** at)));
  expect(new Set(pauses).size).toBe(9);
});

test('a table that gives all at once is asked once, without a pause', async () => {
  dynamo.on(BatchGetItemCommand).resolves({ Responses: { state: [KEY] } });
  const pauses: number[] = [];
  const found = await readItems(client, 'state', [KEY], async (ms) => void pauses.push(ms));
  expect([...found.keys()]).toEqual(['exec#e-1/exec']);
  expect(pauses).toEqual([]);
  expect(dynamo.commandCalls(BatchGetItemCommand)).toHaveLength(1);
});
