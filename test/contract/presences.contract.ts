/** What every place for the supervisors' presence must do: one record, one version after the other. */

import type { Presences } from '../../lib/core/ports.ts';
import type { Presence } from '../../lib/core/supervision/presence.ts';

export interface PresencesUnderTest {
  /** Empty. */
  readonly presences: Presences;
  readonly close: () => Promise<void>;
}

const presence = (changes: Partial<Presence> = {}): Presence => ({
  version: 1,
  writeId: 'w-1',
  untilAt: 1_700_000_000_000,
  ...changes,
});

export function describePresences(title: string, start: () => Promise<PresencesUnderTest>): void {
  describe(`presences contract: ${title}`, () => {
    let presences: Presences;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ presences, close } = await start());
    });
    afterEach(async () => {
      await close();
    });

    it('is none before the first, and is read back as it was written', async () => {
      expect(await presences.read()).toBeUndefined();
      expect(await presences.write(presence())).toBe('written');
      expect(await presences.read()).toStrictEqual(presence());
    });

    it('of two with one version one is a conflict (S3)', async () => {
      expect(await presences.write(presence({ version: 2 }))).toBe('conflict');
      await presences.write(presence());
      expect(await presences.write(presence({ writeId: 'w-2' }))).toBe('conflict');
      expect(await presences.write(presence({ version: 2, writeId: 'w-3' }))).toBe('written');
      expect(await presences.write(presence({ version: 2, writeId: 'w-4' }))).toBe('conflict');
      expect((await presences.read())?.writeId).toBe('w-3');
    });

    it('knows its own write behind an answer that was lost (S15)', async () => {
      await presences.write(presence());
      expect(await presences.write(presence())).toBe('written');
    });
  });
}
