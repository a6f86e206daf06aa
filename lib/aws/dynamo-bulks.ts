/**
 * Bulk actions on DynamoDB: each with its pages, written together; the results of the pages in a partition of
 * their own, which is read whole.
 *
 * Owns: their kinds. Does not own: their items (`dynamo-side-records.ts`), the condition (`dynamo-put.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Bulk, BulkPage, BulkPageResult } from '../core/operators/bulk.ts';
import type { Bulks } from '../core/ports.ts';
import { refuse } from '../core/values/errors.ts';
import { isExecutionId } from '../core/values/names.ts';
import { jsonIn } from './dynamo-items.ts';
import { itemsOf } from './dynamo-partition.ts';
import { putAll } from './dynamo-put.ts';
import { dynamoRecords, type Kind, putOf } from './dynamo-side-records.ts';

function partitionOf(bulk: string): string {
  if (!isExecutionId(bulk)) throw refuse('bad-key', 'that is not the id of a bulk action');
  return `bulk#${bulk}`;
}

const resultsOf = (bulk: string): string => `${partitionOf(bulk)}#results`;

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
const RESULT: Kind<BulkPageResult, [bulk: string, page: number]> = {
  keyOf: ({ bulk, page }) => [bulk, page],
  placeOf: (bulk, page) => [resultsOf(bulk), `page#${page}`],
  goneAt,
};

export const dynamoBulks = (
  client: DynamoDBClient,
  table: string,
  pause: (ms: number) => Promise<void>,
): Bulks => ({
  read: dynamoRecords(client, table, BULK).read,
  readPage: dynamoRecords(client, table, PAGE).read,
  readResult: dynamoRecords(client, table, RESULT).read,
  readResults: async (bulk) => {
    const { items } = await itemsOf(client, table, resultsOf(bulk));
    return items.map((item) => jsonIn(item) as BulkPageResult);
  },
  write: async ({ bulk, pages = [], result }) => {
    const puts = [
      ...(bulk === undefined ? [] : [putOf(table, BULK, bulk)]),
      ...pages.map((page) => putOf(table, PAGE, page)),
      ...(result === undefined ? [] : [putOf(table, RESULT, result)]),
    ];
    return (await putAll(client, puts, pause)).kind;
  },
});
