import { TRANSPORTS } from '../../lib/aws/names.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { MemoryStore } from '../../lib/testing/memory.ts';
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamoInventory } from '../../lib/aws/dynamo-inventory.ts';
import { executionKey } from '../../lib/aws/dynamo-items.ts';
import { dynamoReceipts } from '../../lib/aws/dynamo-receipts.ts';
import {
  memoryAnnouncedLists,
  memoryBreakers,
  memoryOutages,
  memoryPresences,
  memoryReceipts,
  memoryWaits,
  memoryWorkflowPauses,
} from '../../lib/testing/memory-side-records.ts';
import { type Dynamo, startDynamo } from './dynamodb.ts';
import { MOST_OPEN } from './lists.contract.ts';
import { describeInventory } from './inventory.contract.ts';
import { describeReceipts } from './receipts.contract.ts';
import {
  ANNOUNCED,
  BREAKERS,
  describeSideRecords,
  OUTAGES,
  PRESENCES,
  WAITS,
  WORKFLOW_PAUSES,
} from './side-records.contract.ts';
import {
  ANNOUNCED_LIST,
  BREAKER,
  dynamoRecords,
  type Kind,
  OPEN_WAITS,
  OUTAGE,
  PRESENCE,
  WORKFLOW_PAUSE,
} from '../../lib/aws/dynamo-side-records.ts';
import type { SideRecord } from '../../lib/core/ports.ts';
import { describeStore } from './store.contract.ts';
import { dynamoBulks } from '../../lib/aws/dynamo-bulks.ts';
import { memoryBulks } from '../../lib/testing/memory-bulks.ts';
import { describeBulks } from './bulks.contract.ts';

const SHARDS = 2;
const PAGE = 3;

describeStore('in memory', async () => ({
  store: new MemoryStore(SHARDS, MOST_OPEN),
  close: async () => undefined,
}));

describeReceipts('in memory', async () => ({ receipts: memoryReceipts(), close: async () => undefined }));
describeBulks('in memory', async () => ({ bulks: memoryBulks(), close: async () => undefined }));

const inMemory =
  <Records>(open: () => Records) =>
  async () => ({
    records: open(),
    close: async () => undefined,
  });
describeSideRecords('breakers in memory', BREAKERS, inMemory(memoryBreakers));
describeSideRecords('outages in memory', OUTAGES, inMemory(memoryOutages));
describeSideRecords('pauses of workflows in memory', WORKFLOW_PAUSES, inMemory(memoryWorkflowPauses));
describeSideRecords('announced lists in memory', ANNOUNCED, inMemory(memoryAnnouncedLists));
describeSideRecords('presence in memory', PRESENCES, inMemory(memoryPresences));
describeSideRecords('open waits in memory', WAITS, inMemory(memoryWaits));

describeInventory('in memory', async () => {
  const store = new MemoryStore(SHARDS);
  const inventory = store.inventory(PAGE);
  return {
    store,
    inventory,
    reshard: (shards) => {
      store.reshard(shards);
      return { store, inventory };
    },
    expire: async (id) => store.expire(id),
    close: async () => undefined,
  };
});

describe('on DynamoDB', () => {
  let dynamo: Dynamo | undefined;
  beforeAll(async () => {
    dynamo = await startDynamo();
  });
  afterAll(async () => {
    await dynamo?.stop();
  });

  describe.each(TRANSPORTS)('by %s', (transport) => {
    const open = async () => {
      if (dynamo === undefined) throw new Error('there is no DynamoDB; see the failure of beforeAll');
      const { name, drop } = await dynamo.table();
      return { client: dynamo.by(transport), name, close: drop };
    };
    describeStore(`DynamoDB, ${transport}`, async () => {
      const { client, name, close } = await open();
      const store = dynamoStore(client, { table: name, wakeShards: SHARDS, mostOpen: MOST_OPEN });
      return { store, close };
    });
    describeInventory(`DynamoDB, ${transport}`, async () => {
      const { client, name: table, close } = await open();
      const reshard = (wakeShards: number) => ({
        store: dynamoStore(client, { table, wakeShards }),
        inventory: dynamoInventory(client, { table, wakeShards, items: PAGE }),
      });
      const expire = async (id: string): Promise<void> => {
        await client.send(new DeleteItemCommand({ TableName: table, Key: executionKey(id) }));
      };
      return { ...reshard(SHARDS), reshard, expire, close };
    });
    describeReceipts(`DynamoDB, ${transport}`, async () => {
      const { client, name, close } = await open();
      return { receipts: dynamoReceipts(client, name, SHARDS), close };
    });
    describeBulks(`DynamoDB, ${transport}`, async () => {
      const { client, name, close } = await open();
      return { bulks: dynamoBulks(client, name, async () => undefined), close };
    });
    const kept =
      <Kept extends SideRecord, Key extends readonly unknown[]>(kind: Kind<Kept, Key>) =>
      async () => {
        const { client, name, close } = await open();
        return { records: dynamoRecords(client, name, kind), close };
      };
    const where = `on DynamoDB, ${transport}`;
    describeSideRecords(`breakers ${where}`, BREAKERS, kept(BREAKER));
    describeSideRecords(`outages ${where}`, OUTAGES, kept(OUTAGE));
    describeSideRecords(`pauses of workflows ${where}`, WORKFLOW_PAUSES, kept(WORKFLOW_PAUSE));
    describeSideRecords(`announced lists ${where}`, ANNOUNCED, kept(ANNOUNCED_LIST));
    describeSideRecords(`presence ${where}`, PRESENCES, kept(PRESENCE));
    describeSideRecords(`open waits ${where}`, WAITS, kept(OPEN_WAITS));
  });
});
