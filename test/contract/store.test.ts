import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { MemoryStore } from '../../lib/testing/memory.ts';
import { dynamoReceipts } from '../../lib/aws/dynamo-receipts.ts';
import { memoryReceipts } from '../../lib/testing/memory-receipts.ts';
import { type Dynamo, startDynamo } from './dynamodb.ts';
import { describeReceipts } from './receipts.contract.ts';
import { describeStore } from './store.contract.ts';

const SHARDS = 2;

describeStore('in memory', async () => ({ store: new MemoryStore(SHARDS), close: async () => undefined }));

describeReceipts('in memory', async () => ({ receipts: memoryReceipts(), close: async () => undefined }));

describe('on DynamoDB', () => {
  let dynamo: Dynamo | undefined;
  beforeAll(async () => {
    dynamo = await startDynamo();
  });
  afterAll(async () => {
    await dynamo?.stop();
  });

  const open = async () => {
    if (dynamo === undefined) throw new Error('there is no DynamoDB; see the failure of beforeAll');
    const { name, drop } = await dynamo.table();
    return { client: dynamo.client, name, close: drop };
  };
  describeStore('DynamoDB', async () => {
    const { client, name, close } = await open();
    return { store: dynamoStore(client, { table: name, watchShards: SHARDS }), close };
  });
  describeReceipts('DynamoDB', async () => {
    const { client, name, close } = await open();
    return { receipts: dynamoReceipts(client, name, SHARDS), close };
  });
});
