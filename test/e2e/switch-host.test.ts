/**
 * Agents move from separate functions into one host, and back, while executions wait for an answer, have a
 * message in a queue, or have an attempt in progress. None is lost (S13).
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '../../lib/client.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { synthesized } from './small-stack.ts';

const EXECUTIONS = 50;
const folder = mkdtempSync(join(tmpdir(), 'steadfast-switch-host-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Deployed {
  readonly cloud: Cloud;
  readonly api: Client;
}

/** Deploys over the previous deployment's data. */
async function deployed(
  hosting: 'own' | 'shared',
  during: (deployed: Deployed) => Promise<void>,
): Promise<void> {
  const settings = { bulkActions: false, monitoring: 'none', hosting } as const;
  const outdir = mkdtempSync(join(folder, 'cdk.out-'));
  const template = await synthesized(outdir, { workflows: 'moved', settings });
  const dataDir = join(folder, 'data');
  const environment = { DEPOT: folder };
  const cloud = await startCloud({ ...template, dataDir, environment, port: 0, schedules: true });
  try {
    await during({ cloud, api: createClient({ url: cloud.apiUrl }) });
  } finally {
    await cloud.stop();
  }
}

const begin = async ({ api }: Deployed, parcel: number, slow = false): Promise<string> =>
  (await api.start('moved', { input: { parcel, slow }, idempotencyKey: String(parcel) })).executionId;

const many = async (from: number, to: number, make: (n: number) => Promise<string>): Promise<string[]> => {
  const made: string[] = [];
  for (let n = from; n < to; n += 1) made.push(await make(n));
  return made;
};

/** Waits until the execution waits for its release. @returns the callback's token */
async function tokenOf({ api }: Deployed, id: string): Promise<string> {
  for (;;) {
    const { steps } = await api.get(id, { wait: '100ms' });
    const token = steps.find(({ name }) => name === 'release')?.token;
    if (token !== undefined) return token;
  }
}

const calls = (): [key: string, by: string][] =>
  readFileSync(join(folder, 'calls'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ') as [string, string]);

/** The functions that have made calls since this count. */
const callersSince = (count: number): number =>
  new Set(
    calls()
      .slice(count)
      .map(([, by]) => by),
  ).size;

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

  await deployed('own', async (on) => {
    const waiting = await many(0, 20, (n) => begin(on, n));
    await wait(on, waiting);
    expect(callersSince(0)).toBe(2);
    const before = calls().length;
    const slow = await many(20, 20 + SLOW, (n) => begin(on, n, true));
    while (calls().length < before + SLOW) await on.api.get(slow[0]!, { wait: '100ms' });
    on.cloud.control.disableMapping('pack-parcel');
    const queued = await many(20 + SLOW, 40, (n) => begin(on, n));
    ids.push(...waiting, ...slow, ...queued);
    [atHost, back] = [waiting.slice(0, 10), waiting.slice(10)];
  });
  writeFileSync(join(folder, 'moved'), '');

  await deployed('shared', async (on) => {
    const before = calls().length;
    await release(on, (await wait(on, atHost)).values());
    for (const id of atHost) expect((await on.api.waitForEnd(id)).status).toBe('succeeded');
    // Messages in the queue and attempts under way go on in the host, up to their release.
    await wait(on, ids.slice(20));
    expect(callersSince(before)).toBe(1);
    on.cloud.control.disableMapping('pack-parcel');
    ids.push(...(await many(40, EXECUTIONS, (n) => begin(on, n))));
    // Their next message waits for the next function.
    await release(on, (await wait(on, ids.slice(20, 30))).values());
  });

  await deployed('own', async (on) => {
    const before = calls().length;
    const open = [...back, ...ids.slice(30)];
    await release(on, (await wait(on, open)).values());
    for (const id of ids) expect((await on.api.waitForEnd(id)).status).toBe('succeeded');
    expect(callersSince(before)).toBe(2);
  });
  const keys = calls().map(([key]) => key);
  expect(ids).toHaveLength(EXECUTIONS);
  expect(new Set(keys).size).toBe(3 * EXECUTIONS);
  // An attempt that was under way when its function disappeared is repeated, under its key.
  expect(keys.length - 3 * EXECUTIONS).toBeLessThanOrEqual(SLOW);
});
