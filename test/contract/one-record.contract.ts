/** What every place for a record that there is once must do: one version after the other. */

import type { WriteResult } from '../../lib/core/ports.ts';

interface Versioned {
  readonly version: number;
  readonly writeId: string;
}

interface OneRecord<Kept extends Versioned> {
  readonly read: () => Promise<Kept | undefined>;
  readonly write: (record: Kept) => Promise<WriteResult>;
}

export interface OneRecordUnderTest<Kept extends Versioned> {
  /** Empty. */
  readonly records: OneRecord<Kept>;
  readonly close: () => Promise<void>;
}

/** @param kept what it holds beside its version */
export function describeOneRecord<Kept extends Versioned>(
  title: string,
  kept: Omit<Kept, keyof Versioned>,
  start: () => Promise<OneRecordUnderTest<Kept>>,
): void {
  const record = (version: number, writeId: string): Kept => ({ version, writeId, ...kept }) as Kept;
  describe(`contract of one record: ${title}`, () => {
    let records: OneRecord<Kept>;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ records, close } = await start());
    });
    afterEach(async () => {
      await close();
    });

    it('is none before the first, and is read back as it was written', async () => {
      expect(await records.read()).toBeUndefined();
      expect(await records.write(record(1, 'w-1'))).toBe('written');
      expect(await records.read()).toStrictEqual(record(1, 'w-1'));
    });

    it('of two with one version one is a conflict (S3)', async () => {
      expect(await records.write(record(2, 'w-1'))).toBe('conflict');
      await records.write(record(1, 'w-1'));
      expect(await records.write(record(1, 'w-2'))).toBe('conflict');
      expect(await records.write(record(2, 'w-3'))).toBe('written');
      expect(await records.write(record(2, 'w-4'))).toBe('conflict');
      expect((await records.read())?.writeId).toBe('w-3');
    });

    it('knows its own write behind an answer that was lost (S15)', async () => {
      await records.write(record(1, 'w-1'));
      expect(await records.write(record(1, 'w-1'))).toBe('written');
    });
  });
}
