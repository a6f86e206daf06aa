/**
 * L2 in a quiet system: a death is noticed within the lease and ten seconds, at any time between two ticks;
 * if calls are lost or refused, at the next tick.
 */

import { type Calls, LEASE_MS, type Quiet, runQuiet } from './quiet.ts';

const WORLDS = 60;
const worlds = async (calls: Calls): Promise<Quiet[]> => {
  const all: Quiet[] = [];
  for (let seed = 0; seed < WORLDS; seed += 1) all.push(await runQuiet(seed, calls));
  return all;
};
const slowest = (all: readonly Quiet[]): number =>
  Math.max(...all.map(({ noticedMs = Number.POSITIVE_INFINITY }) => noticedMs));

describe('an agent that dies in a quiet system', () => {
  it.each(['arrive', 'arrive-twice'] as const)(
    'is noticed within lease and 10 s when calls %s',
    async (calls) => {
      const all = await worlds(calls);
      expect(slowest(all)).toBeLessThanOrEqual(LEASE_MS + 10_000);
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['succeeded']));
      // Wherever it starts, at most one is called, and a called one stays, whichever copy it is.
      expect(Math.max(...all.map((one) => one.calls))).toBe(1);
      for (const one of all) expect(one.stayed).toBe(one.calls);
    },
  );

  it.each(['get-lost', 'are-refused'] as const)(
    'is noticed by the next tick when calls %s',
    async (calls) => {
      const all = await worlds(calls);
      expect(slowest(all)).toBeGreaterThan(LEASE_MS + 10_000);
      expect(slowest(all)).toBeLessThanOrEqual(LEASE_MS + 60_000 + 10_000);
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['succeeded']));
      const failed = all.filter(({ notes }) => notes.some(({ what }) => what === 'wake-up-failed'));
      expect(failed.length).toBe(calls === 'are-refused' ? all.filter((one) => one.calls > 0).length : 0);
    },
  );
});
