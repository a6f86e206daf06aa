import { TRANSPORTS } from '../../lib/aws/names.ts';
import { MemoryStore } from '../../lib/memory/world.ts';
import {
  memoryBreakers,
  memoryRates,
  memoryPresences,
  memoryReceipts,
  memoryWaits,
  memoryWorkflowPauses,
} from '../../lib/memory/side-records.ts';
import { type Dynamo, startDynamo } from './dynamodb.ts';
import { MOST_OPEN } from './lists.contract.ts';
import { memoryLanes } from '../../lib/memory/lanes.ts';
import { memoryMailboxes } from '../../lib/memory/mailboxes.ts';
import { describeInventory } from './inventory.contract.ts';
import { describeLanes } from './lanes.contract.ts';
import { describeMailboxes } from './mailboxes.contract.ts';
import { describeReceipts } from './receipts.contract.ts';
import {
  BREAKERS,
  RATES,
  describeSideRecords,
  PRESENCES,
  WAITS,
  WORKFLOW_PAUSES,
} from './side-records.contract.ts';
import { describeAdapters } from './adapters.contract.ts';
import { describeStore } from './store.contract.ts';
import { memoryBulks } from '../../lib/memory/bulks.ts';
import { describeBulks } from './bulks.contract.ts';

const SHARDS = 2;
const PAGE = 3;

describeStore('in memory', async () => ({
  store: new MemoryStore(SHARDS, MOST_OPEN),
  close: async () => undefined,
}));

describeLanes('in memory', async () => ({ lanes: memoryLanes(), close: async () => undefined }));
describeMailboxes('in memory', async () => {
  const store = new MemoryStore(SHARDS, MOST_OPEN);
  const mailboxes = memoryMailboxes(store.mailboxes);
  return { store, mailboxes, close: async () => undefined };
});
describeReceipts('in memory', async () => ({ receipts: memoryReceipts(), close: async () => undefined }));
describeBulks('in memory', async () => ({ bulks: memoryBulks(), close: async () => undefined }));

const inMemory =
  <Records>(open: () => Records) =>
  async () => ({
    records: open(),
    close: async () => undefined,
  });
describeSideRecords('breakers in memory', BREAKERS, inMemory(memoryBreakers));
describeSideRecords('rates in memory', RATES, inMemory(memoryRates));
describeSideRecords('pauses of workflows in memory', WORKFLOW_PAUSES, inMemory(memoryWorkflowPauses));
describeSideRecords('presence in memory', PRESENCES, inMemory(memoryPresences));
describeSideRecords('open waits in memory', WAITS, inMemory(memoryWaits));

describeInventory('in memory', async () => {
  const store = new MemoryStore(SHARDS);
  const inventory = store.inventory(PAGE);
  return {
    store,
    inventory,
    recordsOf: inventory.recordsOf,
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
    describeAdapters(`DynamoDB, ${transport}`, open);
  });
});
