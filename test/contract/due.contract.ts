/**
 * The contract of due executions: the index of wake times (S12, C3), its pages, and the group of each
 * execution.
 */
import type { Page, Store } from '../../lib/core/ports.ts';
import { anExecution } from './records.ts';

const T = 1_700_000_000_000;

/** All pages, one after the other. */
export async function allPages<Item>(
  page: (cursor: string | undefined) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const answer = await page(cursor);
    items.push(...answer.items);
    ({ cursor } = answer);
  } while (cursor !== undefined);
  return items;
}

export const due = (store: () => Store): void => {
  const shards = (): number[] => Array.from({ length: store().shards }, (_, shard) => shard);
  const allDue = async (untilAt: number) =>
    (
      await Promise.all(shards().map((shard) => allPages((cursor) => store().due(shard, untilAt, cursor))))
    ).flat();
  const make = async (count: number, wakeAt: (at: number) => number): Promise<void> => {
    const records = Array.from({ length: count }, (_, at) =>
      anExecution({ id: `e-${at}`, wakeAt: wakeAt(at) }),
    );
    await Promise.all(records.map((record) => store().create(record)));
  };

  it('is empty for an empty store', async () => {
    expect(await allDue(T + 1_000_000)).toEqual([]);
  });

  it('is every execution whose wake time has come, in exactly one shard, earliest first', async () => {
    await make(30, (at) => T + (at % 10));
    const found = await allDue(T + 4);
    expect(found).toHaveLength(15);
    expect(new Set(found.map(({ executionId }) => executionId)).size).toBe(15);
    for (const shard of shards()) {
      const times = (await store().due(shard, T + 100)).items.map(({ wakeAt }) => wakeAt);
      expect(times.length).toBeGreaterThan(0);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    }
  });

  it('includes the very moment', async () => {
    await make(1, () => T);
    expect(await allDue(T - 1)).toEqual([]);
    expect(await allDue(T)).toEqual([{ executionId: 'e-0', wakeAt: T }]);
  });

  it('includes one whose wake time is not a whole millisecond', async () => {
    await make(1, () => T + 0.255);
    expect(await allDue(T)).toEqual([]);
    expect(await allDue(T + 1)).toEqual([{ executionId: 'e-0', wakeAt: T + 0.255 }]);
  });

  it('says whose each is', async () => {
    await store().create(anExecution({ id: 'e-0', wakeAt: T, fairGroup: 'a-hash' }));
    expect(await allDue(T)).toEqual([{ executionId: 'e-0', wakeAt: T, group: 'a-hash' }]);
  });

  it('has as many on a page as are asked for', async () => {
    await make(450, () => T);
    const pages = await Promise.all(shards().map((shard) => store().due(shard, T, undefined, 400)));
    const ids = pages.flatMap(({ items }) => items.map(({ executionId }) => executionId));
    expect(new Set(ids).size).toBe(store().shards === 1 ? 400 : 450);
  });

  it('follows the wake time, and ends with it (C3)', async () => {
    await make(1, () => T);
    const moved = anExecution({ id: 'e-0', version: 2, writeId: 'w-2', wakeAt: T + 50 });
    await store().write({ executionId: 'e-0', execution: moved });
    expect(await allDue(T + 49)).toEqual([]);
    expect(await allDue(T + 50)).toHaveLength(1);
    const { wakeAt: _, ...ended } = { ...moved, version: 3, writeId: 'w-3' };
    await store().write({ executionId: 'e-0', execution: ended });
    expect(await allDue(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  it('is paged to the end although items on earlier pages leave the index meanwhile', async () => {
    await make(450, (at) => T + (at % 3));
    const seen: string[] = [];
    for (const shard of shards()) {
      let cursor: string | undefined;
      do {
        const page = await store().due(shard, T + 10, cursor);
        const looks = page.items.map(({ executionId }) => {
          seen.push(executionId);
          const later = anExecution({ id: executionId, version: 2, writeId: 'w-2', wakeAt: T + 1_000_000 });
          return store().write({ executionId, execution: later });
        });
        await Promise.all(looks);
        ({ cursor } = page);
      } while (cursor !== undefined);
    }
    expect(seen).toHaveLength(450);
    expect(new Set(seen).size).toBe(450);
  });
};
