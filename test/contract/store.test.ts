import { TRANSPORTS } from '../../lib/aws/names.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { MemoryStore } from '../../lib/testing/memory.ts';
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamoInventory } from '../../lib/aws/dynamo-inventory.ts';
import { executionKey } from '../../lib/aws/dynamo-items.ts';
import { dynamoReceipts } from '../../lib/aws/dynamo-receipts.ts';
import { memoryReceipts } from '../../lib/testing/memory-receipts.ts';
import { type Dynamo, startDynamo } from './dynamodb.ts';
import { dynamoBreakers, dynamoOutages } from '../../lib/aws/dynamo-breakers.ts';
import { memoryBreakers, memoryOutages } from '../../lib/testing/memory-breakers.ts';
import { dynamoPresences } from '../../lib/aws/dynamo-presence.ts';
import { memoryPresences } from '../../lib/testing/memory-presence.ts';
import { describeBreakers, describeOutages } from './breakers.contract.ts';
import { MOST_OPEN } from './lists.contract.ts';
import { describeInventory } from './inventory.contract.ts';
import { dynamoWaits } from '../../lib/aws/dynamo-waits.ts';
import { memoryWaits } from '../../lib/testing/memory-waits.ts';
import type { OpenWaits } from '../../lib/core/records/open-waits.ts';
import type { Presence } from '../../lib/core/supervision/presence.ts';
import { describeOneRecord } from './one-record.contract.ts';
import { describeReceipts } from './receipts.contract.ts';
import { describeStore } from './store.contract.ts';
import { dynamoWorkflowPauses } from '../../lib/aws/dynamo-workflow-pauses.ts';
import { memoryWorkflowPauses } from '../../lib/testing/memory-workflow-pauses.ts';
import { dynamoAnnouncedLists } from '../../lib/aws/dynamo-announced-lists.ts';
import { memoryAnnouncedLists } from '../../lib/testing/memory-announced-lists.ts';
import { describeAnnouncedLists } from './announced-lists.contract.ts';
import { dynamoBulks } from '../../lib/aws/dynamo-bulks.ts';
import { memoryBulks } from '../../lib/testing/memory-bulks.ts';
import { describeBulks } from './bulks.contract.ts';
import { describeWorkflowPauses } from './workflow-pauses.contract.ts';

const SHARDS = 2;
const PAGE = 3;

describeStore('in memory', async () => ({
  store: new MemoryStore(SHARDS, MOST_OPEN),
  close: async () => undefined,
}));

describeReceipts('in memory', async () => ({ receipts: memoryReceipts(), close: async () => undefined }));
describeOutages('in memory', async () => ({ outages: memoryOutages(), close: async () => undefined }));
describeBreakers('in memory', async () => ({ breakers: memoryBreakers(), close: async () => undefined }));

describeWorkflowPauses('in memory', async () => ({
  pauses: memoryWorkflowPauses(),
  close: async () => undefined,
}));

describeAnnouncedLists('in memory', async () => ({
  lists: memoryAnnouncedLists(),
  close: async () => undefined,
}));
describeBulks('in memory', async () => ({ bulks: memoryBulks(), close: async () => undefined }));

const PRESENCE = { untilAt: 1_700_000_000_000 };
const WAITS = { waits: [{ id: 'w', untilAt: 1_700_000_000_000 }] };

describeOneRecord<Presence>('presence in memory', PRESENCE, async () => ({
  records: memoryPresences(),
  close: async () => undefined,
}));

describeOneRecord<OpenWaits>('open waits in memory', WAITS, async () => ({
  records: memoryWaits(),
  close: async () => undefined,
}));

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
    describeOutages(`DynamoDB, ${transport}`, async () => {
      const { client, name, close } = await open();
      return { outages: dynamoOutages(client, name), close };
    });
    describeBreakers(`DynamoDB, ${transport}`, async () => {
      const { client, name, close } = await open();
      return { breakers: dynamoBreakers(client, name), close };
    });
    describeWorkflowPauses(`DynamoDB, ${transport}`, async () => {
      const { client, name, close } = await open();
      return { pauses: dynamoWorkflowPauses(client, name), close };
    });
    describeAnnouncedLists(`DynamoDB, ${transport}`, async () => {
      const { client, name, close } = await open();
      return { lists: dynamoAnnouncedLists(client, name), close };
    });
    describeBulks(`DynamoDB, ${transport}`, async () => {
      const { client, name, close } = await open();
      return { bulks: dynamoBulks(client, name, async () => undefined), close };
    });
    describeOneRecord<Presence>(`presence on DynamoDB, ${transport}`, PRESENCE, async () => {
      const { client, name, close } = await open();
      return { records: dynamoPresences(client, name), close };
    });
    describeOneRecord<OpenWaits>(`open waits on DynamoDB, ${transport}`, WAITS, async () => {
      const { client, name, close } = await open();
      return { records: dynamoWaits(client, name), close };
    });
  });
});
