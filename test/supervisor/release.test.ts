/** The receipt of the release: since when the deployed code has been running, whoever writes it. */

import { memoryReceipts } from '../../lib/memory/side-records.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { releaseNote } from '../../lib/supervisor/release.ts';
import type { Receipts } from '../../lib/core/ports.ts';

const MINUTE_MS = 60_000;

function open() {
  const { clock, random, log } = memoryWorld();
  const kept = memoryReceipts();
  const calls: string[] = [];
  const receipts: Receipts = {
    read: async () => {
      calls.push('read');
      return kept.read();
    },
    write: async (receipt) => {
      calls.push('write');
      return kept.write(receipt);
    },
  };
  const begin = (release: string, changes: Partial<Receipts> = {}) =>
    releaseNote({ ...receipts, ...changes }, { clock, random, log }, release);
  const stored = async () => {
    const { release: { release, deployedAt } = {} } = await kept.read();
    return [release, deployedAt];
  };
  const wait = (ms: number): number => {
    clock.advanceTo(clock.now() + ms);
    return clock.now();
  };
  return { begin, stored, calls, wait, clock, kept };
}

describe('the receipt of the release', () => {
  it('says when its first supervisor began, and costs one read a process once it is left', async () => {
    const { begin, stored, calls, wait, clock } = open();
    const [at, first] = [clock.now(), begin('a')];
    await first();
    wait(MINUTE_MS);
    await first();
    await begin('a')();
    expect(await stored()).toEqual(['a', at]);
    expect(calls).toEqual(['read', 'write', 'read']);
  });

  it('is left by one of several that begin together, and all know it', async () => {
    const { begin, stored, calls, clock } = open();
    const three = [begin('a'), begin('a'), begin('a')];
    await Promise.all(three.map((note) => note()));
    await Promise.all(three.map((note) => note()));
    expect(await stored()).toEqual(['a', clock.now()]);
    expect(calls.filter((call) => call === 'read')).toHaveLength(5);
  });

  it('does not go back and forth while two releases are at work beside each other', async () => {
    const { begin, stored, wait } = open();
    await begin('a')();
    const at = wait(60 * MINUTE_MS);
    for (let second = 0; second < 60; second += 10) {
      await begin('b')();
      await begin('a')();
      expect(await stored()).toEqual(['b', at]);
      wait(10_000);
    }
  });

  it('follows a deployment soon after another, and a return to the one before, from its beginning', async () => {
    const { begin, stored, wait } = open();
    for (const release of ['a', 'b', 'a']) {
      const at = wait(90_000);
      const note = begin(release);
      await note();
      wait(MINUTE_MS);
      await note();
      expect(await stored()).toEqual([release, at]);
    }
  });

  it('is put right if a clock that was ahead wrote it', async () => {
    const { begin, stored, clock, kept } = open();
    const deployedAt = clock.now() + 90 * MINUTE_MS;
    await kept.write({ version: 1, writeId: 'w', release: 'a', deployedAt });
    await begin('b')();
    expect(await stored()).toEqual(['b', clock.now()]);
  });

  it('is tried again at the next tick if it could not be left', async () => {
    const { begin, stored, clock, kept } = open();
    const results = [Promise.reject(new Error('away'))];
    const note = begin('a', { read: () => results.pop() ?? kept.read() });
    await note();
    expect(await stored()).toEqual([undefined, undefined]);
    await note();
    expect(await stored()).toEqual(['a', clock.now()]);
  });
});
