/**
 * Bulk actions in memory, under the real condition: a write happens completely or not at all.
 */

import { type Bulk, type BulkPage, type BulkTotal, TOTALS } from '../core/operators/bulk.ts';
import type { Bulks, BulkWrite } from '../core/ports.ts';

type Kept = Bulk | BulkPage | BulkTotal;

const pageKey = (bulk: string, page: number): string => `${bulk} page ${page}`;
const totalKey = (bulk: string, shard: number): string => `${bulk} total ${shard}`;

export function memoryBulks(): Bulks {
  const stored = new Map<string, Kept>();
  const recordsIn = ({ bulk, pages = [], total }: BulkWrite): (readonly [string, Kept])[] => [
    ...(bulk === undefined ? [] : [[bulk.id, bulk] as const]),
    ...pages.map((page) => [pageKey(page.bulk, page.page), page] as const),
    ...(total === undefined ? [] : [[totalKey(total.bulk, total.shard), total] as const]),
  ];
  return {
    read: async (bulk) => stored.get(bulk) as Bulk | undefined,
    readPage: async (bulk, page) => stored.get(pageKey(bulk, page)) as BulkPage | undefined,
    readTotal: async (bulk, shard) => stored.get(totalKey(bulk, shard)) as BulkTotal | undefined,
    readTotals: async (bulk) =>
      Array.from({ length: TOTALS }, (_, shard) => stored.get(totalKey(bulk, shard))).filter(
        (one): one is BulkTotal => one !== undefined,
      ),
    write: async (records) => {
      const all = recordsIn(records);
      if (all.every(([key, { writeId }]) => stored.get(key)?.writeId === writeId)) return 'written';
      const follows = all.every(([key, { version }]) => (stored.get(key)?.version ?? 0) === version - 1);
      if (!follows) return 'conflict';
      for (const [key, record] of all) stored.set(key, record);
      return 'written';
    },
  };
}
