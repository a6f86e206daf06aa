/**
 * The two supervisors of a tick: C3 together they read as much as one alone, L5 if one dies, the other does
 * its work.
 */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { type Part, SWEEP_EVERY_MS, tick } from '../../lib/supervisor/sweep.ts';
import { anAgent, anyObject, harness, type Harness, settle } from '../engine/harness.ts';
import { aProcess, withStore } from '../engine/process.ts';

const worker = anAgent('worker');
const single = workflow('single', { input: anyObject, within: '1h' }, (w) => {
  w.step('it', worker, {}, { recovery: [retry(1)] });
});
const fine = { execute: async () => ({}), undo: async () => undefined };
const open = (wrap?: Parameters<typeof harness>[3]): Harness => harness(single, { worker: fine }, 1, wrap);

/** Loses all messages in the queue. @returns how many */
const loseAll = (h: Harness): number => h.sent.splice(0).length;

describe('any number of supervisors', () => {
  const askedBy = async (parts: readonly Part[], shards = 6): Promise<number[]> => {
    const asked = Array.from({ length: shards }, () => 0);
    const h = open((world) =>
      withStore(world, () => ({
        shards,
        due: async (shard) => {
          asked[shard] = (asked[shard] ?? 0) + 1;
          return { items: [] };
        },
      })),
    );
    const options = { untilAt: h.clock.now() + 57_000, sweepEveryMs: SWEEP_EVERY_MS };
    await Promise.all(parts.map((part) => tick(h.scheduler.ports, new Map(), { ...options, part })));
    return asked;
  };
  const partsOf = (of: number): Part[] => Array.from({ length: of }, (_, part) => ({ part, of }));

  it.each([1, 2, 3, 4, 5, 6])('as many as %i ask each shard once in all (C3)', async (of) => {
    expect(await askedBy(partsOf(of))).toEqual(Array.from({ length: 6 }, () => 1));
  });

  it.each([1, 4, 16, 64])('ask each of %i shards once in all (C3)', async (shards) => {
    expect(await askedBy(partsOf(2), shards)).toEqual(Array.from({ length: shards }, () => 1));
  });

  it('leave no shard out while their number changes, rule by rule', async () => {
    // Seven targets need two rules. The second rule is created first and removed last.
    const mixed = [...partsOf(2), ...partsOf(6).slice(5)];
    expect(Math.min(...(await askedBy(mixed)))).toBeGreaterThanOrEqual(1);
  });
});

describe('two supervisors of one tick', () => {
  const PARTS: readonly Part[] = [
    { part: 0, of: 2 },
    { part: 1, of: 2 },
  ];
  const MINUTE_MS = 57_000;
  /** Opens two shards (executions with an odd number are in shard 1), and counts the queries of each. */
  const openSharded = () => {
    const asked = [0, 0];
    const h = open((world) =>
      withStore(world, (store) => ({
        shards: 2,
        due: async (shard, untilAt, cursor) => {
          asked[shard] = (asked[shard] ?? 0) + 1;
          const { items } = await store.due(0, untilAt, cursor);
          return { items: items.filter(({ executionId }) => Number(executionId.slice(2)) % 2 === shard) };
        },
      })),
    );
    return { h, asked };
  };
  const move = async (h: Harness, untilAt: number): Promise<void> => {
    await settle();
    for (let at = h.clock.nextWakeAt(); at !== undefined && at <= untilAt; at = h.clock.nextWakeAt()) {
      h.clock.advanceTo(at);
      await settle();
    }
    h.clock.advanceTo(untilAt);
    await settle();
  };
  const begin = (h: Harness, part: Part, untilAt: number) => {
    const process = aProcess(h.scheduler.ports);
    const over = tick(process.ports, new Map(), { untilAt, sweepEveryMs: SWEEP_EVERY_MS, part });
    return { ...process, over };
  };

  it('ask each shard once in all when nothing is due (C3)', async () => {
    const { h, asked } = openSharded();
    const untilAt = h.clock.now() + MINUTE_MS;
    const sweeps = await Promise.all(PARTS.map((part) => begin(h, part, untilAt).over));
    expect(sweeps.map(({ length }) => length)).toEqual([1, 1]);
    expect(asked).toEqual([1, 1]);
  });

  it('ask twice as much as one would, and evaluate everything once', async () => {
    const { h, asked } = openSharded();
    await h.begin();
    await h.begin();
    loseAll(h);
    const untilAt = h.clock.now() + MINUTE_MS;
    const both = PARTS.map((part) => begin(h, part, untilAt));
    await move(h, untilAt);
    expect((await Promise.all(both.map(({ over }) => over))).map(({ length }) => length)).toEqual([29, 29]);
    expect(asked).toEqual([29 + 28, 29 + 28]);
    // Each execution sends after 10 and 30 s: 4 messages. A duplicate evaluation would send more.
    expect(loseAll(h)).toBe(4);
  });

  it.each([0, 1])(
    'do the work of part %i when it is dead, and soon as often as its own (L5)',
    async (victim) => {
      const { h } = openSharded();
      await h.begin();
      await h.begin();
      loseAll(h);
      const startedAt = h.clock.now();
      const both = PARTS.map((part) => begin(h, part, startedAt + MINUTE_MS));
      await move(h, startedAt + 1_000);
      both[victim]?.kill();
      const sentAt: number[] = [];
      for (let at = startedAt + 1_000; at < startedAt + MINUTE_MS; at += 500) {
        await move(h, at);
        const sent = h.sent
          .splice(0)
          .filter(({ message }) => Number(message.execution.slice(2)) % 2 === victim);
        for (const _ of sent) sentAt.push((at - startedAt) / 1_000);
      }
      // The message is due after 10 s. The other supervisor finds it later, because in the dead one's shards
      // it only searches for work that is overdue by 1.5 sweeps (3 s).
      expect(sentAt[0]).toBeGreaterThanOrEqual(10 + 3);
      expect(sentAt[0]).toBeLessThanOrEqual(10 + 3 + 4);
      const dueAgainAt = (sentAt[0] ?? 0) + 20;
      expect(sentAt[1]).toBeLessThanOrEqual(dueAgainAt + 2);
      expect(sentAt).toHaveLength(2);
    },
  );

  it('tell of the shards that they keep, their own and those of a dead one', async () => {
    const { h } = openSharded();
    await h.begin();
    await h.begin();
    loseAll(h);
    const untilAt = h.clock.now() + MINUTE_MS;
    const swept: number[][] = [];
    const leave = async (sweeps: readonly { readonly shard: number }[], last: boolean) => {
      swept.push(sweeps.map(({ shard }) => shard));
      if (last) swept.push([]);
    };
    const options = { untilAt, sweepEveryMs: SWEEP_EVERY_MS, part: { part: 0, of: 2 }, leave };
    const over = tick(h.scheduler.ports, new Map(), options);
    await move(h, untilAt);
    await over;
    expect(swept[0]).toEqual([0]);
    expect(swept.at(-2)).toEqual([0, 1]);
    expect(swept.filter(({ length }) => length === 0)).toEqual([[]]);
  });

  it('watch a shard that was empty at the tick, whose keeper has gone home', async () => {
    const { h } = openSharded();
    await h.begin();
    loseAll(h);
    const startedAt = h.clock.now();
    const both = PARTS.map((part) => begin(h, part, startedAt + MINUTE_MS));
    await move(h, startedAt);
    expect(await both[0]?.over).toHaveLength(1);
    const { id } = await h.begin();
    loseAll(h);
    await move(h, startedAt + 10_000 + 3_000 + 4_000);
    expect(h.sent.map(({ message }) => message.execution)).toContain(id);
  });
});
