/** Counting the open questions in the file. */

import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { INBOX_KEY, INBOX_SHARDS, shardsOf } from '../../lib/aws/dynamo-indexes.ts';
import { TABLE } from '../../lib/aws/names.ts';
import { openNow } from '../../lib/aws/open-now.ts';
import { type Database, openDatabase, TABLE_NAME as TableName } from '../../serve/sqlite/client.ts';

let database: Database;
beforeEach(() => {
  database = openDatabase();
});
afterEach(() => database.close());

const SHARDS = shardsOf(INBOX_KEY, INBOX_SHARDS);
const put = (at: number, sk: string, more: object) => {
  const key = { [TABLE.listIndex.pk]: { S: SHARDS[at % SHARDS.length] ?? '' } };
  const Item = { pk: { S: `exec#${at}` }, sk: { S: sk }, ...key, startedAt: { N: String(at) }, ...more };
  return database.client.send(new PutItemCommand({ TableName, Item }));
};

it('is what a table would say, incidents apart', async () => {
  for (let at = 0; at < 30; at += 1) await put(at, at % 3 === 0 ? 'incident#1' : 'inbox#agreed', {});
  const counted = await openNow(database.client, TableName, [], 0, database.counted);
  expect(counted).toEqual({ incidents: 10, entries: 20, breakers: 0 });
  expect(await openNow(database.client, TableName, [], 0)).toEqual(counted);
});

it('is all of it: an incident is counted behind more approvals than a page has', async () => {
  const large = { workflow: { S: 'x'.repeat(2_000) } };
  await Promise.all(Array.from({ length: 8_000 }, (_, at) => put(at, 'inbox#agreed', large)));
  await put(9_000, 'incident#1', {});
  const counted = await openNow(database.client, TableName, [], 0, database.counted);
  expect(counted).toMatchObject({ incidents: 1, entries: 8_000 });
});
