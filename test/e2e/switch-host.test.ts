/**
 * Agents move from separate functions into one host, and back, while executions wait for an answer, have a
 * message in a queue, or have an attempt in progress. None is lost (S13).
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { begin, Depot, type Deployed, tokenOf } from './moved-agents.ts';

const EXECUTIONS = 50;
const depot = new Depot();
afterAll(() => depot.strike());

const many = async (from: number, to: number, make: (n: number) => Promise<string>): Promise<string[]> => {
  const made: string[] = [];
  for (let n = from; n < to; n += 1) made.push(await make(n));
  return made;
};

/** Fewer attempts than one function of the local cloud runs at the same time. */
const SLOW = 2;

test('agents that move into a host and back lose no open execution', async () => {
  const ids: string[] = [];
  const wait = async (on: Deployed, some: readonly string[]): Promise<Map<string, string>> => {
    const tokens = new Map<string, string>();
    for (const id of some) tokens.set(id, await tokenOf(on, id));
    return tokens;
  };
  const release = async ({ api }: Deployed, tokens: Iterable<string>): Promise<void> => {
    for (const token of tokens) await api.callbacks.complete(token, {});
  };
  let atHost: readonly string[] = [];
  let back: readonly string[] = [];

  await depot.deployed('own', async (on) => {
    const waiting = await many(0, 20, (n) => begin(on, n));
    await wait(on, waiting);
    expect(depot.callersSince(0).size).toBe(2);
    const before = depot.calls().length;
    const slow = await many(20, 20 + SLOW, (n) => begin(on, n, true));
    while (depot.calls().length < before + SLOW) await on.api.get(slow[0]!, { wait: '100ms' });
    on.cloud.control.disableMapping('pack-parcel');
    const queued = await many(20 + SLOW, 40, (n) => begin(on, n));
    ids.push(...waiting, ...slow, ...queued);
    [atHost, back] = [waiting.slice(0, 10), waiting.slice(10)];
  });
  writeFileSync(join(depot.folder, 'moved'), '');

  await depot.deployed('shared', async (on) => {
    const before = depot.calls().length;
    await release(on, (await wait(on, atHost)).values());
    for (const id of atHost) expect((await on.api.waitForEnd(id)).status).toBe('succeeded');
    // Messages in the queue and attempts under way go on in the host, up to their release.
    await wait(on, ids.slice(20));
    expect(depot.callersSince(before).size).toBe(1);
    on.cloud.control.disableMapping('pack-parcel');
    ids.push(...(await many(40, EXECUTIONS, (n) => begin(on, n))));
    // Their next message waits for the next function.
    await release(on, (await wait(on, ids.slice(20, 30))).values());
  });

  await depot.deployed('own', async (on) => {
    const before = depot.calls().length;
    const open = [...back, ...ids.slice(30)];
    await release(on, (await wait(on, open)).values());
    for (const id of ids) expect((await on.api.waitForEnd(id)).status).toBe('succeeded');
    expect(depot.callersSince(before).size).toBe(2);
  });
  const keys = depot.calls().map(([key]) => key);
  expect(ids).toHaveLength(EXECUTIONS);
  expect(new Set(keys).size).toBe(3 * EXECUTIONS);
  // An attempt that was under way when its function disappeared is repeated, under its key.
  expect(keys.length - 3 * EXECUTIONS).toBeLessThanOrEqual(SLOW);
});
