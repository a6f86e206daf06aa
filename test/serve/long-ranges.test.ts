/** How many rows a query reads if there are many open executions. */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import Sqlite from 'libsql';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { TABLE } from '../../lib/aws/names.ts';

import { openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';
import { createTable, indexNamed } from '../../serve/sqlite/schema.ts';
import { type Range, readyItem, Table } from '../../serve/sqlite/table.ts';
import { anExecution } from '../contract/records.ts';

const [T, HOUR] = [1_750_000_000_000, 3_600_000];

it('finds those at risk without reading what is open', async () => {
  const { client, findAtRisk, close } = openDatabase();
  const queries: unknown[] = [];
  const counting = {
    send: (command: { readonly input: { readonly IndexName?: string } }) => {
      if (command.input.IndexName !== undefined) queries.push(command.input);
      return client.send(command as never);
    },
  } as unknown as DynamoDBClient;
  const store = dynamoStore(counting, { table: TABLE_NAME, wakeShards: 8, findAtRisk });
  const at = T + HOUR;
  const times = { startedAt: at, deadlineAt: at + 10 * HOUR, wakeAt: at + HOUR };
  for (let id = 0; id < 200; id += 1)
    await store.create(anExecution({ id: `e-${id}`, ...times, ...(id === 7 ? { riskSince: at } : {}) }));
  const { items, orderedBy } = await store.list({ workflows: ['flow'], limit: 100, atRiskAt: at });
  expect([items.map(({ id }) => id), orderedBy]).toEqual([['e-7'], 'startedAt']);
  expect(queries).toEqual([]);
  close();
});

/** SQLite's query plan for reading a range from a place on. */
function wayThrough(range: Range, place: { readonly sort?: number; readonly sk: string }): string {
  const db = new Sqlite(':memory:');
  createTable(db);
  const table = new Table(db);
  table.add(readyItem({ pk: { S: 'p' }, sk: { S: 's' } }, 'p', 's'));
  const prepare = db.prepare.bind(db);
  let last = '';
  db.prepare = (sql) => prepare((last = sql));
  table.rows(range, { pk: 'p', ...place }, 50);
  const [{ detail }] = prepare(`EXPLAIN QUERY PLAN ${last}`).all('a', 1, 1, 1, 1, 1) as unknown as [
    { readonly detail: string },
  ];
  db.close();
  return detail;
}

describe('a range that is read in pieces', () => {
  const wake = { index: indexNamed(TABLE.wakeIndex.name), partition: 'wake#0' };

  it.each([
    ['forward', true, '(wakeAt,pk,sk)>(?,?,?)'],
    ['backward', false, '(wakeAt,pk,sk)<(?,?,?)'],
  ])('goes on where it was, %s, and not through what was read', (_way, isForward, seek) => {
    const bounds = [{ order: '>=', cell: 3 } as const, { order: '<=', cell: 9 } as const];
    expect(wayThrough({ ...wake, bounds, isForward }, { sort: 5, sk: 's' })).toContain(seek);
  });

  it('keeps a bound that the place is not within', () => {
    const bounds = [{ order: '>=', cell: 3 } as const];
    expect(wayThrough({ ...wake, bounds, isForward: true }, { sort: 2, sk: 's' })).toContain('wakeAt>?');
  });

  it('goes on so among the texts of a partition', () => {
    const bounds = [{ order: '>=', cell: 'b' } as const, { order: '<', cell: 'c' } as const];
    const way = wayThrough({ partition: 'p', bounds, isForward: true }, { sk: 'bé' });
    expect(way).toContain('(pk=? AND sk>? AND sk<?)');
  });
});
