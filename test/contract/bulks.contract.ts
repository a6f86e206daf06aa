/**
 * The contract of every store of bulk actions: a write stores all its records or none, and only the next
 * version.
 */

import { type Bulk, type BulkPage, type BulkTotal, pageDone } from '../../lib/core/operators/bulk.ts';
import type { Bulks } from '../../lib/core/ports.ts';

export interface BulksUnderTest {
  /** Empty at the start. */
  readonly bulks: Bulks;
  readonly close: () => Promise<void>;
}

const T = 1_700_000_000_000;
const by = { kind: 'local', name: 'ann' } as const;
/** With every optional field. */
const made = (changes: Partial<Bulk> = {}): Bulk => ({
  id: 'b-1',
  version: 1,
  writeId: 'w-1',
  inputHash: 'h',
  command: { action: 'retry', reason: 'çlosed' },
  filter: { statuses: ['failed'], until: T },
  createdAt: T,
  createdBy: by,
  cursor: 'next',
  isCollected: false,
  count: 2,
  leftOut: 1,
  pages: 1,
  examples: ['e-1'],
  goneAt: T + 1_000,
  ...changes,
});
const page = (changes: Partial<BulkPage> = {}): BulkPage => ({
  bulk: 'b-1',
  page: 0,
  version: 1,
  writeId: 'w-1',
  ids: ['e-1', 'e-2.step.0'],
  goneAt: T + 1_000,
  ...changes,
});

export function describeBulks(title: string, start: () => Promise<BulksUnderTest>): void {
  describe(`bulk actions contract: ${title}`, () => {
    let bulks: Bulks;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ bulks, close } = await start());
    });
    afterEach(async () => {
      await close();
    });

    it('are absent at first, and are read back unchanged', async () => {
      expect([
        await bulks.read('b-1'),
        await bulks.readPage('b-1', 0),
        await bulks.readTotals('b-1'),
      ]).toEqual([undefined, undefined, []]);
      expect(await bulks.write({ bulk: made(), pages: [page(), page({ page: 1 })] })).toBe('written');
      expect(await bulks.read('b-1')).toStrictEqual(made());
      expect(await bulks.readPage('b-1', 1)).toStrictEqual(page({ page: 1 }));
      expect(await bulks.readPage('b-2', 1)).toBeUndefined();
    });

    it('are written together or not at all (S3), and an own write is known (S15)', async () => {
      const first = { bulk: made(), pages: [page()] };
      expect(await bulks.write(first)).toBe('written');
      expect(await bulks.write(first)).toBe('written');
      const late = { bulk: made({ version: 2, writeId: 'w-2' }), pages: [page({ writeId: 'w-2' })] };
      expect(await bulks.write(late)).toBe('conflict');
      expect((await bulks.read('b-1'))?.version).toBe(1);
      expect(await bulks.write({ bulk: late.bulk })).toBe('written');
    });

    it('count a page once: of two processes one writes its result and the total', async () => {
      await bulks.write({ pages: [page(), page({ page: 16 })] });
      const result = { applied: 2, refused: {} };
      const done = async (one: BulkPage, writeId: string): Promise<string> => {
        const total = await bulks.readTotal('b-1', 0);
        const [counted, sum] = pageDone(one, total, result, writeId);
        return bulks.write({ pages: [counted], total: sum });
      };
      expect(await done(page(), 'w-2')).toBe('written');
      expect(await done(page(), 'w-3')).toBe('conflict');
      expect(await done(page({ page: 16 }), 'w-4')).toBe('written');
      const totals: readonly BulkTotal[] = await bulks.readTotals('b-1');
      expect(totals).toEqual([
        {
          bulk: 'b-1',
          shard: 0,
          version: 2,
          writeId: 'w-4',
          pages: 2,
          applied: 4,
          refused: {},
          goneAt: T + 1_000,
        },
      ]);
      expect((await bulks.readPage('b-1', 0))?.result).toEqual(result);
    });
  });
}
