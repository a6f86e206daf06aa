/**
 * Work on many items, several at a time.
 *
 * Owns: how many items are under way, and the effect of a failure on the others. Does not own: the work.
 */

/**
 * Returns results in the order of the items. When an item fails, its lane takes no more items. The error is
 * thrown once all lanes have ended, so one bad item does not hold up the rest (L4), and if all fail, few are
 * tried.
 * @param lanes the most items that are worked on at a time
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
