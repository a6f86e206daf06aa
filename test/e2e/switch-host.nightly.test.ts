/**
 * A thousand executions are open while agents move into a host, and for a time the old and the new functions
 * read the same queues (S13).
 */

import { begin, Depot, tokenOf, type Deployed } from './moved-agents.ts';

/** `CROWD=100 npm test -- …` runs fewer. */
const EXECUTIONS = Number(process.env['CROWD'] ?? 1_000);
/** How many of them have only a message in a queue when the functions change. */
const QUEUED = EXECUTIONS / 5;
const AT_ONCE = 16;
const depot = new Depot();
afterAll(() => depot.strike());

/** Calls for each item, some at a time. @returns the results in the order of the items */
async function each<Item, Result>(
  items: readonly Item[],
  make: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await make(items[at]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

const release = async (on: Deployed, ids: readonly string[]): Promise<void> => {
  await each(ids, async (id) => on.api.callbacks.complete(await tokenOf(on, id), {}));
};

const numbers = Array.from({ length: EXECUTIONS }, (_, n) => n);
const ids: string[] = [];

test('a thousand are open: they wait for an answer, or their message waits in a queue', async () => {
  await depot.deployed('own', async (on) => {
    const waiting = await each(numbers.slice(QUEUED), (n) => begin(on, n));
    await each(waiting, (id) => tokenOf(on, id));
    on.cloud.control.disableMapping('pack-parcel');
    ids.push(...waiting, ...(await each(numbers.slice(0, QUEUED), (n) => begin(on, n))));
  });
  expect(new Set(ids).size).toBe(EXECUTIONS);
});

test('old and new functions side by side go on with half of them, and with the messages', async () => {
  await depot.deployed('both', async (on) => {
    const before = depot.calls().length;
    await release(on, ids.slice(0, EXECUTIONS / 2));
    await each(ids.slice(0, EXECUTIONS / 2), (id) => on.api.waitForEnd(id));
    await each(ids.slice(-QUEUED), (id) => tokenOf(on, id));
    const callers = [...depot.callersSince(before)];
    expect(callers.filter((name) => name.includes('Host'))).toHaveLength(1);
    expect(callers.filter((name) => !name.includes('Host')).length).toBeGreaterThan(0);
  });
});

test('the host alone ends the rest: none is lost, and each step has acted under one key', async () => {
  await depot.deployed('shared', async (on) => {
    const before = depot.calls().length;
    await release(on, ids.slice(EXECUTIONS / 2));
    const statuses = await each(ids, async (id) => (await on.api.waitForEnd(id)).status);
    expect(statuses.filter((status) => status !== 'succeeded')).toEqual([]);
    expect(depot.callersSince(before).size).toBe(1);
  });
  // An attempt may be repeated, under its key.
  const keys = new Set(depot.calls().map(([key]) => key));
  expect(keys.size).toBe(3 * EXECUTIONS);
});
