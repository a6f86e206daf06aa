import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { MemoryStore } from '../../lib/testing/memory.ts';
import { type Dynamo, startDynamo } from './dynamodb.ts';
import { describeStore } from './store.contract.ts';

const SHARDS = 2;

describeStore('in memory', async () => ({ store: new MemoryStore(SHARDS), close: async () => undefined }));

describe('on DynamoDB', () => {
  let dynamo: Dynamo | undefined;
  beforeAll(async () => {
    dynamo = await startDynamo();
  });
  afterAll(async () => {
    await dynamo?.stop();
  });

  describeStore('DynamoDB', async () => {
    if (dynamo === undefined) throw new Error('there is no DynamoDB; see the failure of beforeAll');
    const { name, drop } = await dynamo.table();
    return { store: dynamoStore(dynamo.client, { table: name, watchShards: SHARDS }), close: drop };
  });
});
