/**
 * The audit as deployed, with its function and role, restores an execution that was hidden by hand in the
 * table (S12, P5).
 */

import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { executionKey } from '../../lib/aws/dynamo-items.ts';
import { setStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ schedules: false });
});
afterAll(() => stage.strike());

const tableName = (): string => {
  const table = [...stage.cloud.resources.values()].find(({ type }) => type.startsWith('AWS::DynamoDB::'));
  return table?.ref ?? '';
};

/** Removes the execution's messages and wake time, so that no role would ever evaluate it again. */
async function hide(executionId: string): Promise<void> {
  const client = new DynamoDBClient({
    endpoint: stage.cloud.gatewayUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'hand', secretAccessKey: 'x' },
  });
  await client.send(
    new UpdateItemCommand({
      TableName: tableName(),
      Key: executionKey(executionId),
      UpdateExpression: 'REMOVE wakeAt, wakeShard',
      ConditionExpression: 'attribute_exists(wakeAt)',
    }),
  );
  client.destroy();
}

it('an execution whose wake time was removed by hand goes on after a run of the audit', async () => {
  const { control } = stage.cloud;
  // One dies after its report, the other after its claim: no process is left.
  const deaths = [
    control.kill('charge-card', { afterCall: 2, operation: 'PutItem' }).hit,
    control.kill('reserve-stock', { afterCall: 1, operation: 'PutItem' }).hit,
  ];
  const executionId = await stage.startOrder('hidden');
  for (const death of deaths) expect((await death).outcome).toBe('hit');
  await hide(executionId);
  await control.tick('audit');
  const { body } = await stage.request('GET', '/health');
  expect(body.audit.whole).toMatchObject({ healed: 1, removed: 0, failed: 0 });
  const over = control.tick('supervisor');
  expect((await stage.ended(executionId)).status).toBe('succeeded');
  const left = (await stage.request('GET', '/health')).body.shards.filter(
    (shard: { receipt?: object }) => shard.receipt !== undefined,
  );
  expect(left).not.toEqual([]);
  over.catch(() => undefined);
});
