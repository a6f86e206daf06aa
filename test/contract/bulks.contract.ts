/**
 * The contract of every store of bulk actions: a write stores all its records or none, and only the next
 * version.
 */

import type { Bulk, BulkPage, BulkPageResult } from '../../lib/core/operators/bulk.ts';
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
        await bulks.readResult('b-1', 0),
        await bulks.readResults('b-1'),
      ]).toEqual([undefined, undefined, undefined, []]);
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

    it('count a page once: of two processes one writes its result', async () => {
      await bulks.write({ pages: [page(), page({ page: 16 })] });
      const done = (
        number: number,
        writeId: string,
        changes: Partial<BulkPageResult> = {},
      ): BulkPageResult => ({
        bulk: 'b-1',
        page: number,
        version: 1,
        writeId,
        applied: 2,
        refused: {},
        goneAt: T + 1_000,
        ...changes,
      });
      expect(await bulks.write({ result: done(0, 'w-2') })).toBe('written');
      expect(await bulks.write({ result: done(0, 'w-3', { applied: 1 }) })).toBe('conflict');
      expect(await bulks.write({ result: done(0, 'w-2') })).toBe('written');
      expect(await bulks.write({ result: done(16, 'w-4') })).toBe('written');
      expect(await bulks.write({ result: done(0, 'w-5', { bulk: 'b-1.1' }) })).toBe('written');
      expect(await bulks.readResult('b-1', 0)).toStrictEqual(done(0, 'w-2'));
      const results = [...(await bulks.readResults('b-1'))].sort((one, other) => one.page - other.page);
      expect(results).toStrictEqual([done(0, 'w-2'), done(16, 'w-4')]);
      expect(await bulks.readPage('b-1', 0)).toStrictEqual(page());
    });
  });
}
