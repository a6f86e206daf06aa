/** What every place for lists that have announced a question must do: the first of a list stays. */

import type { AnnouncedLists } from '../../lib/core/ports.ts';
import type { AnnouncedList } from '../../lib/core/records/announced-list.ts';

export interface AnnouncedListsUnderTest {
  /** Empty. */
  readonly lists: AnnouncedLists;
  readonly close: () => Promise<void>;
}

const asked = (list: string, executionId: string, writeId: string): AnnouncedList => ({
  list,
  version: 1,
  writeId,
  executionId,
  askedAt: 1_700_000_000_000,
});

export function describeAnnouncedLists(title: string, start: () => Promise<AnnouncedListsUnderTest>): void {
  it(`contract of announced lists: ${title}`, async () => {
    const { lists, close } = await start();
    try {
      const [first, second] = [asked('a/all/0/1/', 'a.all.1', 'w-1'), asked('a/all/0/1/', 'a.all.2', 'w-2')];
      expect(await lists.read(first.list)).toBeUndefined();
      expect(await lists.write(first)).toBe('written');
      expect(await lists.write(second)).toBe('conflict');
      // Behind an answer that was lost.
      expect(await lists.write(first)).toBe('written');
      expect(await lists.read(first.list)).toStrictEqual(first);
      const other = asked('a/all/0/2/', 'a.all.2', 'w-3');
      expect(await lists.write(other)).toBe('written');
      expect(await lists.read(other.list)).toStrictEqual(other);
    } finally {
      await close();
    }
  });
}
