/** The client over a file passes DynamoDB's contracts, with a database in memory. */

import { openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';
import { describeAdapters } from './adapters.contract.ts';

describeAdapters('SQLite', async () => {
  const { client, close } = openDatabase();
  return { client, name: TABLE_NAME, close: async () => close() };
});
