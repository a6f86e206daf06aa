/**
 * Bulk actions on DynamoDB: each with its pages and its totals, written together.
 *
 * Owns: their kinds. Does not own: their items (`dynamo-side-records.ts`), the condition (`dynamo-put.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Bulk, type BulkPage, type BulkTotal, TOTALS } from '../core/operators/bulk.ts';
import type { Bulks } from '../core/ports.ts';
import { refuse } from '../core/values/errors.ts';
import { isExecutionId } from '../core/values/names.ts';
import { readItems } from './dynamo-batch.ts';
import { jsonIn } from './dynamo-items.ts';
import { putAll } from './dynamo-put.ts';
import { dynamoRecords, itemKey, type Kind, putOf } from './dynamo-side-records.ts';

function partitionOf(bulk: string): string {
  if (!isExecutionId(bulk)) throw refuse('bad-key', 'that is not the id of a bulk action');
  return `bulk#${bulk}`;
}

const goneAt = ({ goneAt: at }: { readonly goneAt: number }): number => at;

const BULK: Kind<Bulk, [bulk: string]> = {
  keyOf: ({ id }) => [id],
  placeOf: (bulk) => [partitionOf(bulk), 'bulk'],
  goneAt,
};
const PAGE: Kind<BulkPage, [bulk: string, page: number]> = {
  keyOf: ({ bulk, page }) => [bulk, page],
  placeOf: (bulk, page) => [partitionOf(bulk), `page#${page}`],
  goneAt,
};
const TOTAL: Kind<BulkTotal, [bulk: string, shard: number]> = {
  keyOf: ({ bulk, shard }) => [bulk, shard],
  placeOf: (bulk, shard) => [partitionOf(bulk), `total#${shard}`],
  goneAt,
};

export const dynamoBulks = (
  client: DynamoDBClient,
  table: string,
  pause: (ms: number) => Promise<void>,
): Bulks => ({
  read: dynamoRecords(client, table, BULK).read,
  readPage: dynamoRecords(client, table, PAGE).read,
  readTotal: dynamoRecords(client, table, TOTAL).read,
  readTotals: async (bulk) => {
    const keys = Array.from({ length: TOTALS }, (_, shard) => itemKey(TOTAL, bulk, shard));
    const items = await readItems(client, table, keys);
    return [...items.values()].map((item) => jsonIn(item) as BulkTotal);
  },
  write: async ({ bulk, pages = [], total }) => {
    const puts = [
      ...(bulk === undefined ? [] : [putOf(table, BULK, bulk)]),
      ...pages.map((page) => putOf(table, PAGE, page)),
      ...(total === undefined ? [] : [putOf(table, TOTAL, total)]),
    ];
    return (await putAll(client, puts, pause)).kind;
  },
});
