/** The contract of every store of receipts: it accepts only the next version. */

import type { Receipts } from '../../lib/core/ports.ts';
import type { AuditReceipt, ReleaseReceipt, ShardReceipt } from '../../lib/core/records/receipts.ts';

export interface ReceiptsUnderTest {
  /** Empty; for two shards. */
  readonly receipts: Receipts;
  readonly close: () => Promise<void>;
}

const ofShard = (changes: Partial<ShardReceipt> = {}): ShardReceipt => ({
  shard: 1,
  version: 1,
  writeId: 'w-1',
  sweptAt: 1_700_000_000_000,
  due: 3,
  failed: 1,
  oldestOverdueMs: 1_500,
  ...changes,
});
const counts = { startedAt: 1_700_000_000_000, scanned: 9, healed: 2, removed: 1, failed: 0 };
const ofAudit = (changes: Partial<AuditReceipt> = {}): AuditReceipt => ({
  version: 1,
  writeId: 'w-1',
  auditedAt: 1_700_000_000_500,
  segments: [{ cursor: '{"pk":"exec#e-1"}' }, { over: true }],
  pass: counts,
  whole: { ...counts, endedAt: 1_700_000_000_400 },
  ...changes,
});
const ofRelease = (changes: Partial<ReleaseReceipt> = {}): ReleaseReceipt => ({
  version: 1,
  writeId: 'w-1',
  release: 'abc',
  deployedAt: 1_700_000_000_300,
  ...changes,
});

export function describeReceipts(title: string, open: () => Promise<ReceiptsUnderTest>): void {
  describe(`receipts contract: ${title}`, () => {
    let receipts: Receipts;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ receipts, close } = await open());
    });
    afterEach(async () => {
      await close();
    });

    it('are absent if none was written', async () => {
      expect(await receipts.read()).toEqual({ shards: [] });
    });

    it('are read back as they were written, by number', async () => {
      const [first, second] = [ofShard({ shard: 0, writeId: 'w-2' }), ofShard()];
      for (const receipt of [second, ofAudit(), ofRelease(), first])
        expect(await receipts.write(receipt)).toBe('written');
      expect(await receipts.read()).toStrictEqual({
        shards: [first, second],
        audit: ofAudit(),
        release: ofRelease(),
      });
    });

    it.each<[string, (changes: object) => ShardReceipt | AuditReceipt | ReleaseReceipt]>([
      ['of a shard', ofShard],
      ['of the audit', ofAudit],
      ['of the release', ofRelease],
    ])('%s follow each other: of two with one version one is a conflict (S3)', async (_, make) => {
      expect(await receipts.write(make({ version: 2 }))).toBe('conflict');
      expect(await receipts.write(make({}))).toBe('written');
      expect(await receipts.write(make({}))).toBe('written');
      expect(await receipts.write(make({ writeId: 'w-2' }))).toBe('conflict');
      expect(await receipts.write(make({ version: 2, writeId: 'w-3' }))).toBe('written');
      expect(await receipts.write(make({ version: 2, writeId: 'w-4' }))).toBe('conflict');
      const { shards, audit, release } = await receipts.read();
      expect([...shards, audit, release].filter((one) => one !== undefined)).toStrictEqual([
        make({ version: 2, writeId: 'w-3' }),
      ]);
    });
  });
}
