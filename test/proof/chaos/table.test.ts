/** The judge of real processes reads from the state table exactly the records that the store wrote. */

import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { dynamoStore } from '../../../lib/aws/dynamo-store.ts';
import type { Item } from '../../../lib/aws/dynamo-items.ts';
import { contentOf } from '../../../proof/chaos/table.ts';
import { openDatabase, TABLE_NAME } from '../../../serve/sqlite/client.ts';
import { IN_MEMORY } from '../../../serve/sqlite/file.ts';
import { anExecution, aPlan, aStep } from '../../contract/records.ts';

it('has plans, executions with their inputs, and steps', async () => {
  const { client, close } = openDatabase(IN_MEMORY, { onBroken: () => undefined });
  const pause = async (): Promise<void> => undefined;
  const log = { note: () => undefined };
  const store = dynamoStore(client, { table: TABLE_NAME, wakeShards: 4, pause, log });
  const plan = aPlan;
  await store.writePlan('hash', plan);
  const execution = anExecution({ plan: 'hash', input: { account: 'a' } });
  await store.create(execution, true);
  const step = aStep({ name: 'first' });
  await store.write({ executionId: execution.id, step });
  const { Items = [] } = await client.send(new ScanCommand({ TableName: TABLE_NAME }));
  const content = contentOf(Items as Item[]);
  close();
  expect([...content.plans]).toEqual([['hash', plan]]);
  expect(content.snapshots).toEqual([{ execution, steps: { first: step } }]);
});
