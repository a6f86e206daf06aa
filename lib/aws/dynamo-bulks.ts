/**
 * Bulk actions on DynamoDB: `bulk#<id>`/`bulk`, `page#<n>` and `total#<n>` in the state table.
 *
 * Owns: their keys, and that they go by themselves. Does not own: their items (`dynamo-record.ts`),
 * the condition (`dynamo-put.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Bulk, type BulkPage, type BulkTotal, TOTALS } from '../core/operators/bulk.ts';
import type { Bulks } from '../core/ports.ts';
import { refuse } from '../core/values/errors.ts';
import { isExecutionId } from '../core/values/names.ts';
import { readItems } from './dynamo-batch.ts';
import type { Item } from './dynamo-items.ts';
import { putAll } from './dynamo-put.ts';
import { readRecord, recordIn, recordPut } from './dynamo-record.ts';
import { TABLE } from './names.ts';

function keyOf(bulk: string, sk: string): Item {
  if (!isExecutionId(bulk)) throw refuse('bad-key', 'that is not the id of a bulk action');
  return { [TABLE.pk]: { S: `bulk#${bulk}` }, [TABLE.sk]: { S: sk } };
}

const bulkKey = (bulk: string): Item => keyOf(bulk, 'bulk');
const pageKey = (bulk: string, page: number): Item => keyOf(bulk, `page#${page}`);
const totalKey = (bulk: string, shard: number): Item => keyOf(bulk, `total#${shard}`);

const kept = (key: Item, { goneAt }: { readonly goneAt: number }): Item => ({
  ...key,
  [TABLE.ttl]: { N: String(Math.ceil(goneAt / 1_000)) },
});

export const dynamoBulks = (
  client: DynamoDBClient,
  table: string,
  pause: (ms: number) => Promise<void>,
): Bulks => ({
  read: async (bulk) => readRecord<Bulk>(client, table, bulkKey(bulk), 'bulk'),
  readPage: async (bulk, page) => readRecord<BulkPage>(client, table, pageKey(bulk, page), 'page'),
  readTotal: async (bulk, shard) => readRecord<BulkTotal>(client, table, totalKey(bulk, shard), 'total'),
  readTotals: async (bulk) => {
    const keys = Array.from({ length: TOTALS }, (_, shard) => totalKey(bulk, shard));
    const items = await readItems(client, table, keys);
    return [...items.values()].map((item) => recordIn(item, 'total') as BulkTotal);
  },
  write: async ({ bulk, pages = [], total }) => {
    const puts = [
      ...(bulk === undefined ? [] : [recordPut(table, kept(bulkKey(bulk.id), bulk), 'bulk', bulk)]),
      ...pages.map((page) => recordPut(table, kept(pageKey(page.bulk, page.page), page), 'page', page)),
      ...(total === undefined
        ? []
        : [recordPut(table, kept(totalKey(total.bulk, total.shard), total), 'total', total)]),
    ];
    return (await putAll(client, puts, pause)).kind;
  },
});
