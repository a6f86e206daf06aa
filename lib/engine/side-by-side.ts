/**
 * Work on many items, several at a time.
 *
 * Owns: how many are under way, and what a failure means for the others. Does not own: the work.
 */

/**
 * Results in the order of the items. A failure ends one lane, and is thrown when all have ended: one item
 * that fails for ever holds no other up (L4), and where all fail few are tried.
 * @param lanes how many items are worked on at a time, at most
 */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  lanes: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next; at < items.length; at = next) {
      next += 1;
      results[at] = await run(items[at] as Item);
    }
  };
  const running = Array.from({ length: Math.min(lanes, items.length) }, lane);
  for (const ended of await Promise.allSettled(running)) if (ended.status === 'rejected') throw ended.reason;
  return results;
}
