/**
 * Bulk actions in memory, under the real condition: a write happens completely or not at all.
 */

import type { Bulk, BulkPage, BulkPageResult } from '../core/operators/bulk.ts';
import type { Bulks, BulkWrite } from '../core/ports.ts';

type Kept = Bulk | BulkPage | BulkPageResult;

const pageKey = (bulk: string, page: number): string => `${bulk} page ${page}`;
const resultsOf = (bulk: string): string => `${bulk} result `;
const resultKey = (bulk: string, page: number): string => `${resultsOf(bulk)}${page}`;

export function memoryBulks(): Bulks {
  const stored = new Map<string, Kept>();
  const recordsIn = ({ bulk, pages = [], result }: BulkWrite): (readonly [string, Kept])[] => [
    ...(bulk === undefined ? [] : [[bulk.id, bulk] as const]),
    ...pages.map((page) => [pageKey(page.bulk, page.page), page] as const),
    ...(result === undefined ? [] : [[resultKey(result.bulk, result.page), result] as const]),
  ];
  return {
    read: async (bulk) => stored.get(bulk) as Bulk | undefined,
    readPage: async (bulk, page) => stored.get(pageKey(bulk, page)) as BulkPage | undefined,
    readResult: async (bulk, page) => stored.get(resultKey(bulk, page)) as BulkPageResult | undefined,
    readResults: async (bulk) =>
      [...stored].flatMap(([key, one]) => (key.startsWith(resultsOf(bulk)) ? [one as BulkPageResult] : [])),
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
