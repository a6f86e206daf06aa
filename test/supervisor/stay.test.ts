/**
 * How long a supervisor stays: it keeps its promised presence; a called one ends at a tick; of two called
 * ones, one ends (L2, S15).
 */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Presences } from '../../lib/core/ports.ts';
import type { Presence } from '../../lib/core/supervision/presence.ts';
import type { Sweep } from '../../lib/supervisor/outage.ts';
import { takeOver, tickStay } from '../../lib/supervisor/stay.ts';
import { tick } from '../../lib/supervisor/sweep.ts';
import { memoryPresences } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, harness, type Harness, settle } from '../engine/harness.ts';
import { aProcess } from '../engine/process.ts';

const worker = anAgent('worker', { lease: '3s', claimWithin: '3s' });
const fine = { execute: async () => ({}), undo: async () => undefined };
const single = workflow('single', { input: anyObject, within: '1h' }, (w) => {
  w.step('it', worker, {}, { recovery: [retry(3)] });
});
const EVERY_MS = 2_000;
const LIFE_MS = 57_000;

const open = (change: (presences: Presences) => Partial<Presences> = () => ({})) => {
  const h = harness(single, { worker: fine });
  const stored = memoryPresences();
  const written: Presence[] = [];
  const presences: Presences = {
    ...stored,
    write: async (presence) => {
      const result = await stored.write(presence);
      if (result === 'written') written.push(presence);
      return result;
    },
    ...change(stored),
  };
  const startedAt = h.clock.now();
  const untilAt = startedAt + LIFE_MS;
  /** Writes the next version as another process. */
  const byOther = async (forMs: number): Promise<void> => {
    const version = ((await stored.read())?.version ?? 0) + 1;
    await stored.write({ version, writeId: `other-${version}`, untilAt: h.clock.now() + forMs });
  };
  return { h, presences, stored, written, startedAt, untilAt, byOther };
};
type Open = ReturnType<typeof open>;

async function move(h: Harness, byMs: number): Promise<void> {
  const untilAt = h.clock.now() + byMs;
  await settle();
  for (let at = h.clock.nextWakeAt(); at !== undefined && at <= untilAt; at = h.clock.nextWakeAt()) {
    h.clock.advanceTo(at);
    await settle();
  }
  h.clock.advanceTo(untilAt);
  await settle();
}

/** Calls the supervisor as its handler does. @returns its sweeps, and when it ended */
async function call(world: Open, version = 1): Promise<{ sweeps?: readonly Sweep[]; endedAt?: number }> {
  const { h, presences, untilAt } = world;
  const called = { version, untilAt: world.startedAt + 5_000 };
  const stay = await takeOver(presences, h, called, { untilAt, sweepEveryMs: EVERY_MS });
  const ended: { sweeps?: readonly Sweep[]; endedAt?: number } = {};
  if (stay === undefined) return { sweeps: [], endedAt: h.clock.now() };
  void tick(h, new Map(), { untilAt, sweepEveryMs: EVERY_MS, stay }).then((sweeps) => {
    Object.assign(ended, { sweeps, endedAt: h.clock.now() });
  });
  await settle();
  return ended;
}

describe('a tick', () => {
  it('that finds nothing promises nothing, and asks nothing (C3)', async () => {
    const { h, untilAt } = open();
    const never = (): never => {
      throw new Error('asked');
    };
    const stay = tickStay({ read: never, write: never }, h, untilAt);
    await tick(h, new Map(), { untilAt, sweepEveryMs: EVERY_MS, stay });
  });

  it('that finds something promises once, before it evaluates, until the next tick sweeps', async () => {
    const { h, presences, written, untilAt } = open();
    await h.begin();
    h.sent.splice(0);
    const stay = tickStay(presences, h, untilAt);
    void tick(h, new Map(), { untilAt, sweepEveryMs: EVERY_MS, stay });
    await settle();
    expect(written).toEqual([{ version: 1, writeId: expect.any(String), untilAt: untilAt + 2_000 }]);
    await move(h, LIFE_MS);
    expect(written).toHaveLength(1);
  });

  it('promises nothing where the other part of it has done so, and outbids one that was called', async () => {
    const { h, presences, written, untilAt, byOther } = open();
    await byOther(5_000);
    await tickStay(presences, h, untilAt).found();
    expect(written.map(({ version }) => version)).toEqual([2]);
    await tickStay(presences, h, untilAt + 100).found();
    expect(written).toHaveLength(1);
  });

  it('stays although its promise cannot be written, and says that', async () => {
    const { h, presences, untilAt } = open(() => ({ write: () => Promise.reject(new Error('away')) }));
    await tickStay(presences, h, untilAt).found();
    expect(h.notes).toContainEqual({ what: 'presence-failed', detail: 'Error' });
  });
});

describe('a supervisor that was called', () => {
  it('does nothing when another has taken its call over, or a tick has come', async () => {
    const world = open();
    await world.byOther(5_000);
    expect((await call(world)).sweeps).toBeUndefined();
    await move(world.h, 12_000);
    const again = await call(world);
    expect(again.sweeps).toEqual([]);
  });

  it('goes home soon when nothing is due, but not before it has looked once more after its promise', async () => {
    const world = open();
    await world.byOther(5_000);
    const ended = await call(world);
    await move(world.h, LIFE_MS);
    const promisedUntilAt = (await world.stored.read())?.untilAt ?? 0;
    expect(ended.endedAt).toBeGreaterThanOrEqual(promisedUntilAt + 4_000);
    expect(ended.endedAt).toBeLessThanOrEqual(promisedUntilAt + 4_000 + EVERY_MS);
    expect((ended.endedAt ?? 0) - world.startedAt).toBeLessThanOrEqual(12_000);
  });

  it('stays, and has always promised beyond its next sweep, while something is due', async () => {
    const world = open();
    await world.byOther(5_000);
    await world.h.begin();
    const ended = await call(world);
    // The supervisor promises its presence until shortly before its end, and keeps the last promise within
    // its own time.
    for (let atMs = 0; atMs < LIFE_MS - 8_000; atMs += 500) {
      world.h.sent.splice(0);
      const presence = await world.stored.read();
      expect([atMs, (presence?.untilAt ?? 0) > world.h.clock.now()]).toEqual([atMs, true]);
      await move(world.h, 500);
    }
    expect(ended.endedAt).toBeUndefined();
    const last = (await world.stored.read())?.untilAt ?? 0;
    await move(world.h, 10_000);
    expect(ended.endedAt).toBeGreaterThanOrEqual(last + 4_000);
    expect(ended.endedAt).toBeLessThanOrEqual(world.untilAt);
  });

  it('notices a lost lease within a sweep, in a system in which no other process sweeps (L2)', async () => {
    const world = open();
    await world.byOther(5_000);
    const { id } = await world.h.begin();
    await call(world);
    const send = world.h.sent.splice(0)[0]!;
    // The process dies in the middle of the work.
    const never = { execute: () => new Promise<never>(() => undefined), undo: async () => undefined };
    Object.assign(world.h.implementations, { worker: never });
    const { ports, kill } = aProcess(world.h.scheduler.ports);
    void world.h.deliver(send, ports);
    await settle();
    kill();
    const claimedAt = world.h.clock.now();
    let noticedAt: number | undefined;
    for (let atMs = 0; atMs < 20_000 && noticedAt === undefined; atMs += 250) {
      await move(world.h, 250);
      if (world.h.notes.some(({ what }) => what === 'lease-ended')) noticedAt = world.h.clock.now();
    }
    expect((noticedAt ?? Number.POSITIVE_INFINITY) - claimedAt).toBeLessThanOrEqual(3_000 + 1_000 + EVERY_MS);
    expect((await world.h.state(id)).steps['it']?.attempts).toHaveLength(1);
  });

  it('gives way to a tick that stays', async () => {
    const world = open();
    await world.byOther(5_000);
    await world.h.begin();
    const ended = await call(world);
    await move(world.h, 1_000);
    await tickStay(world.presences, world.h, world.startedAt + 60_000).found();
    await move(world.h, 6_000);
    expect(ended.endedAt).toBeDefined();
  });

  it('knows its own promise behind an answer that was lost, and keeps it (S15)', async () => {
    let lose = false;
    const world = open((stored) => ({
      write: async (presence) => {
        const result = await stored.write(presence);
        if (lose) throw new Error('no answer');
        return result;
      },
    }));
    await world.byOther(5_000);
    await world.h.begin();
    const ended = await call(world);
    lose = true;
    await move(world.h, 3_000);
    lose = false;
    await move(world.h, 10_000);
    expect(world.h.notes).toContainEqual({ what: 'presence-failed', detail: 'Error' });
    expect(ended.endedAt).toBeUndefined();
    expect((await world.stored.read())?.untilAt).toBeGreaterThan(world.h.clock.now());
  });

  it('cuts a sweep through a crowd short, to say first that it is still there', async () => {
    const world = open();
    await world.byOther(5_000);
    for (let at = 0; at < 40; at += 1) await world.h.begin();
    world.h.sent.splice(0);
    await move(world.h, 4_000);
    const slow = {
      ...world.h,
      store: new Proxy(world.h.store, {
        get: (store, key) =>
          key === 'read'
            ? async (id: string) => {
                await world.h.clock.sleep(200);
                return store.read(id);
              }
            : (Reflect.get(store, key) as unknown),
      }),
    };
    const called = { version: 1, untilAt: world.startedAt + 5_000 };
    const stay = await takeOver(world.presences, slow, called, {
      untilAt: world.untilAt,
      sweepEveryMs: EVERY_MS,
    });
    void tick(slow, new Map(), { untilAt: world.untilAt, sweepEveryMs: EVERY_MS, stay: stay! });
    for (let atMs = 0; atMs < 30_000; atMs += 500) {
      const presence = await world.stored.read();
      expect([atMs, (presence?.untilAt ?? 0) > world.h.clock.now()]).toEqual([atMs, true]);
      await move(world.h, 500);
    }
  });
});
