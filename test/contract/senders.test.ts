/** Fifty senders to one execution, over the embedded DynamoDB and over the file of `serve` (M1 to M3). */

import { openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';
import { type Dynamo, startDynamo } from './dynamodb.ts';
import { expectInOrder, fiftySenders } from './senders.ts';

describe('fifty senders to one execution', () => {
  let dynamo: Dynamo;
  beforeAll(async () => {
    dynamo = await startDynamo();
  });
  afterAll(() => dynamo.stop());

  it('are all accepted once, in one order, on DynamoDB', async () => {
    const { name, drop } = await dynamo.table();
    const sent = await fiftySenders(dynamo.client, name);
    await expectInOrder(sent);
    await drop();
  });

  it.each([false, true])(
    'are all accepted once, in one order, over a file; of one process: %s',
    async (shared) => {
      const { client, close } = openDatabase();
      const sent = await fiftySenders(client, TABLE_NAME, shared);
      await expectInOrder(sent);
      close();
    },
  );
});
