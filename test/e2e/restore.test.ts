/**
 * Follows the runbook "Restore the table" of docs/OPERATIONS.md on the local cloud: a deployment at rest
 * takes over a table restored from a backup, and continues (S13).
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { type Client, createClient } from '../../lib/client.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { synthesized } from './small-stack.ts';

const RESTORED = 'restored';
const ANSWER = { secret: 'answered' };
const folder = mkdtempSync(join(tmpdir(), 'steadfast-restore-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Settings = NonNullable<Parameters<typeof synthesized>[1]['settings']>;
interface Deployed {
  readonly cloud: Cloud;
  readonly api: Client;
  readonly dynamo: DynamoDBClient;
}

/** Deploys the stack with these settings over the previous deployment's data. */
async function deployed(settings: Settings, during: (deployed: Deployed) => Promise<void>): Promise<void> {
  const outdir = mkdtempSync(join(folder, 'cdk.out-'));
  const small = { bulkActions: false, monitoring: 'none' } as const;
  const template = await synthesized(outdir, { workflows: 'canary', settings: { ...small, ...settings } });
  const cloud = await startCloud({ ...template, dataDir: join(folder, 'data'), port: 0, schedules: true });
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const dynamo = new DynamoDBClient({ endpoint: cloud.gatewayUrl, region: 'us-east-1', credentials });
  try {
    await during({ cloud, api: createClient({ url: cloud.apiUrl }), dynamo });
  } finally {
    dynamo.destroy();
    await cloud.stop();
  }
}

const tableOf = ({ cloud }: Deployed): string =>
  [...cloud.resources.values()].find(({ type }) => type === 'AWS::DynamoDB::GlobalTable')?.physicalName ?? '';

/** Makes the restored table: keys, indexes and all items of this moment. */
async function backUp(from: Deployed): Promise<void> {
  const { dynamo } = from;
  const TableName = tableOf(from);
  const { Table } = await dynamo.send(new DescribeTableCommand({ TableName }));
  await dynamo.send(
    new CreateTableCommand({
      TableName: RESTORED,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: Table?.AttributeDefinitions,
      KeySchema: Table?.KeySchema,
      GlobalSecondaryIndexes: Table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
        IndexName,
        KeySchema,
        Projection,
      })),
    } as CreateTableCommandInput),
  );
  for (const Item of await itemsOf(from, TableName))
    await dynamo.send(new PutItemCommand({ TableName: RESTORED, Item }));
}

async function itemsOf({ dynamo }: Deployed, TableName: string) {
  const { Items = [], LastEvaluatedKey } = await dynamo.send(
    new ScanCommand({ TableName, ConsistentRead: true }),
  );
  expect(LastEvaluatedKey).toBeUndefined();
  return Items;
}

/** Step 3 of the runbook: lists the starts since the backup, by workflow. */
async function startedSince(since: number, { dynamo, ...place }: Deployed): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let shard = 0; shard < 4; shard += 1) {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: tableOf({ dynamo, ...place }),
        IndexName: 'list',
        KeyConditionExpression: 'listKey = :k AND startedAt >= :t',
        ExpressionAttributeValues: { ':k': { S: `canary#${shard}` }, ':t': { N: String(since) } },
      }),
    );
    ids.push(...Items.map((item) => item['pk']?.S ?? ''));
  }
  return ids;
}

const begin = async (api: Client, secret: string): Promise<string> =>
  (await api.start('canary', { input: { secret, way: 'done' }, idempotencyKey: secret })).executionId;

/** Waits until the callback is open. @returns its token */
async function tokenOf(api: Client, id: string): Promise<string> {
  for (;;) {
    const { steps } = await api.get(id, { wait: '100ms' });
    const token = steps.find(({ name }) => name === 'child-ended')?.token;
    if (token !== undefined) return token;
  }
}

test('a restored table takes over from a deployment at rest, and nothing acts before', async () => {
  let [asking, queued, later, token] = ['', '', '', ''];
  let since = 0;
  await deployed({}, async (before) => {
    const { api, cloud } = before;
    asking = await begin(api, 'asking');
    token = await tokenOf(api, asking);
    cloud.control.disableMapping('keep-secret');
    queued = await begin(api, 'queued');
    since = Date.now();
    await backUp(before);
    // The backup lacks an answer and a start.
    await api.callbacks.complete(token, ANSWER);
    expect((await api.waitForEnd(asking)).status).toBe('succeeded');
    later = await begin(api, 'later');
  });

  await deployed({ atRest: true, restoredTable: RESTORED }, async (resting) => {
    const { api } = resting;
    const items = await itemsOf(resting, RESTORED);
    expect(await api.get(asking)).toMatchObject({ status: 'running' });
    await expect(api.get(later)).rejects.toMatchObject({ code: 'unknown-execution' });
    expect(await startedSince(since, resting)).toEqual([`exec#${later}`]);
    await expect(api.callbacks.complete(token, ANSWER)).rejects.toMatchObject({ code: 'at-rest' });
    await expect(begin(api, 'later')).rejects.toMatchObject({ code: 'at-rest' });
    // The messages of both wait in the agent's queue.
    expect((await api.get(queued)).steps[0]).toMatchObject({ status: 'ready', attempts: [] });
    expect(await itemsOf(resting, RESTORED)).toEqual(items);
  });

  await deployed({ restoredTable: RESTORED }, async ({ api }) => {
    await api.callbacks.complete(token, ANSWER);
    await api.callbacks.complete(await tokenOf(api, queued), ANSWER);
    for (const id of [asking, queued]) expect((await api.waitForEnd(id)).status).toBe('succeeded');
    expect(await begin(api, 'later')).toBe(later);
    expect((await api.get(later)).startedAt).toBeGreaterThan(since);
  });
});
