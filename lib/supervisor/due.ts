/**
 * Reads the due executions of a shard in fair turns: the earliest of each group (`fairBy`), then the second
 * of each, and so on. Executions without a group share one turn.
 *
 * Owns: how far a sweep reads ahead, and the order. Does not own: the sweep (`sweep.ts`).
 *
 * Without groups the order is the index's, earliest first.
 */

import type { Due, Page, Store } from '../core/ports.ts';

/**
 * How many executions a sweep reads before it evaluates: no more than this of one group can delay another.
 */
const AHEAD = 10_000;
/** A page of this many items is half of DynamoDB's 1 MB. */
const AHEAD_PAGE = 2_000;

/** @param now items due up to this time are overdue; after the first later one, no other is */
export async function readAhead(
  store: Store,
  shard: number,
  untilAt: number,
  now: number,
  cursor: string | undefined,
): Promise<Page<Due>> {
  let page = await store.due(shard, untilAt, cursor);
  const items = [...page.items];
  while (page.cursor !== undefined && items.length < AHEAD && (items.at(-1)?.wakeAt ?? 0) <= now) {
    page = await store.due(shard, untilAt, page.cursor, AHEAD_PAGE);
    items.push(...page.items);
  }
  return page.cursor === undefined ? { items } : { items, cursor: page.cursor };
}

export const haveGroups = (items: readonly Due[]): boolean => items.some(({ group }) => group !== undefined);

export function fairly(items: readonly Due[]): readonly Due[] {
  const turnOf = new Map<string | undefined, number>();
  const turns: Due[][] = [];
  for (const item of items) {
    const turn = turnOf.get(item.group) ?? 0;
    turnOf.set(item.group, turn + 1);
    const all = turns[turn];
    if (all === undefined) turns.push([item]);
    else all.push(item);
  }
  return turns.flat();
}
