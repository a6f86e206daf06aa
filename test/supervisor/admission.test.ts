/**
 * How many messages a sweep may send to an agent: at a limited pace, none into a full queue, but always a
 * few.
 */

import type { Ports, QueueDepth } from '../../lib/core/ports.ts';
import { FREE_SENDS, FULL_QUEUE, admissionControl, SENDS_PER_SWEEP } from '../../lib/supervisor/admission.ts';
import { SWEEP_EVERY_MS, sweepOnce } from '../../lib/supervisor/sweep.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';
import { withStore } from '../engine/process.ts';

const depthOf = (waiting: number): QueueDepth => ({ waiting, underWork: 0, delayed: 0 });

/** An admission with queues of these depths, and a record of the agents whose depth it read. */
function keeperOf(depths: () => Promise<Readonly<Record<string, QueueDepth>>>) {
  const world = memoryWorld();
  const asked: (readonly string[])[] = [];
  const queue = {
    ...world.queue,
    depths: async (agents: readonly string[]) => {
      asked.push(agents);
      return depths();
    },
  };
  const admissions = admissionControl({ ...world, queue }, SWEEP_EVERY_MS);
  /** Counts the admitted sends for this many executions with one message each. */
  const sendsOf = async (wanted: number): Promise<number> => {
    const answers = await Promise.all(
      Array.from({ length: wanted }, async () => (await admissions({ worker: 1 }))['worker']?.sends ?? 0),
    );
    return answers.reduce((sum, sends) => sum + sends, 0);
  };
  return { admissions, asked, sendsOf, clock: world.clock, notes: world.notes };
}

const holding = (waiting: number) => keeperOf(async () => ({ worker: depthOf(waiting) }));

describe('the messages of a sweep to one agent', () => {
  it('are as many as the pace allows while its queue is short', async () => {
    expect(await holding(0).sendsOf(SENDS_PER_SWEEP + 50)).toBe(SENDS_PER_SWEEP);
    expect(await holding(FULL_QUEUE - SENDS_PER_SWEEP).sendsOf(SENDS_PER_SWEEP + 1)).toBe(SENDS_PER_SWEEP);
  });

  it('are no more than its queue has room for', async () => {
    expect(await holding(FULL_QUEUE - 100).sendsOf(SENDS_PER_SWEEP)).toBe(100);
  });

  it.each([FULL_QUEUE, FULL_QUEUE + 50_000])('are a few, although it holds %i', async (waiting) => {
    const { sendsOf, clock } = holding(waiting);
    expect(await sendsOf(SENDS_PER_SWEEP)).toBe(FREE_SENDS);
    expect(await sendsOf(SENDS_PER_SWEEP)).toBe(0);
    clock.advanceTo(clock.now() + SWEEP_EVERY_MS);
    expect(await sendsOf(SENDS_PER_SWEEP)).toBe(FREE_SENDS);
  });

  it('are at least one for each group, although another has filled its queue, and no more than the pace', async () => {
    const { admissions, sendsOf, clock } = holding(FULL_QUEUE + 50_000);
    const sendsFor = async (group: string): Promise<number | undefined> =>
      (await admissions({ worker: 1 }, group))['worker']?.sends;
    expect(await sendsOf(SENDS_PER_SWEEP)).toBe(FREE_SENDS);
    expect([await sendsFor('one'), await sendsFor('one'), await sendsFor('two')]).toEqual([1, 0, 1]);
    clock.advanceTo(clock.now() + SWEEP_EVERY_MS);
    await sendsOf(SENDS_PER_SWEEP);
    expect(await sendsFor('one')).toBe(1);
    for (let group = 1; group < SENDS_PER_SWEEP; group += 1) expect(await sendsFor(`g${group}`)).toBe(1);
    expect(await sendsFor('late')).toBe(0);
  });

  it('need no read of the queue while they are few, and one read for each sweep’s time when they are many', async () => {
    const { sendsOf, asked, clock } = holding(0);
    await sendsOf(FREE_SENDS);
    expect(asked).toEqual([]);
    await sendsOf(SENDS_PER_SWEEP);
    expect(asked).toEqual([['worker']]);
    clock.advanceTo(clock.now() + SWEEP_EVERY_MS);
    await sendsOf(FREE_SENDS + 1);
    expect(asked).toHaveLength(2);
  });

  it('come later by as many sweeps as their turn and the queue’s surplus need', async () => {
    const laterMs = async (waiting: number, wanted: number): Promise<number> => {
      const { admissions, clock } = holding(waiting);
      const { notBefore, busyUntil = 0 } = (await admissions({ worker: wanted }))['worker'] ?? {};
      expect(notBefore?.why).toBe('unclaimed');
      const beyond = Math.max(0, waiting - FULL_QUEUE);
      expect(busyUntil - clock.now()).toBe((beyond / SENDS_PER_SWEEP) * SWEEP_EVERY_MS);
      return (notBefore?.at ?? 0) - clock.now();
    };
    const within = (sweeps: number): readonly number[] => [
      (sweeps - 0.5) * SWEEP_EVERY_MS,
      sweeps * SWEEP_EVERY_MS,
    ];
    for (const [waiting, wanted, sweeps] of [
      [0, 2 * SENDS_PER_SWEEP, 1],
      [0, 4 * SENDS_PER_SWEEP, 3],
      [FULL_QUEUE, FREE_SENDS + SENDS_PER_SWEEP, 1],
      [FULL_QUEUE + 30_000, FREE_SENDS + SENDS_PER_SWEEP, 101],
    ] as const) {
      const [least = 0, most = 0] = within(sweeps);
      const ms = await laterMs(waiting, wanted);
      expect(ms).toBeGreaterThanOrEqual(least);
      expect(ms).toBeLessThanOrEqual(most);
    }
    expect(await laterMs(12_000_000, FREE_SENDS + 1)).toBe(900_000);
  });

  it('of one execution are allowed in part', async () => {
    const { admissions } = holding(FULL_QUEUE - 50);
    expect((await admissions({ worker: 80 }))['worker']?.sends).toBe(50);
    const full = holding(FULL_QUEUE).admissions;
    expect((await full({ worker: 80 }))['worker']?.sends).toBe(FREE_SENDS);
  });

  it.each([
    ['cannot be asked', async () => Promise.reject(new Error('denied'))],
    ['is left out of the answer', async () => ({})],
  ])('go out at the pace, and it is said, when the queue %s', async (_, depths) => {
    const { sendsOf, notes } = keeperOf(depths);
    expect(await sendsOf(SENDS_PER_SWEEP + 1)).toBe(SENDS_PER_SWEEP);
    expect(notes).toEqual([{ what: 'depth-failed', agent: 'worker' }]);
  });
});

describe('a crowd that waits for one agent', () => {
  const COUNT = 400;
  const LOOK_MS = 20;
  const worker = anAgent('worker');
  /** A workflow with this many steps that are all ready at once. */
  const wide = (steps: number) =>
    workflow(`wide${steps}`, { input: anyObject, within: '10h' }, (w) => {
      for (let at = 0; at < steps; at += 1) w.step(`it${at}`, worker, {});
      return {};
    });
  const fine = { execute: async () => ({}), undo: async () => undefined };

  interface Sweep {
    readonly steps: number;
    readonly count: number;
    readonly lookMs: number;
    readonly sweepMs: number;
    /** The number of messages in the agent's queue. */
    readonly waiting: number;
  }

  /** Sweeps over many executions. Only reads take time. */
  const swept = async ({ steps, count, lookMs, sweepMs, waiting }: Sweep) => {
    const rests: number[] = [];
    const read: string[] = [];
    const h = harness(wide(steps), { worker: fine });
    for (let at = 0; at < count; at += 1) await h.begin();
    h.sent.splice(0);
    h.clock.advanceTo(h.clock.now() + 3_600_000);
    const clock = { now: h.clock.now, sleep: async (ms: number) => void rests.push(ms) };
    const queue = { ...h.queue, depths: async () => ({ worker: depthOf(waiting) }) };
    const slow = withStore({ ...h, queue, clock } as Ports, (store) => ({
      read: async (id) => {
        read.push(id);
        h.clock.advanceTo(h.clock.now() + lookMs);
        return store.read(id);
      },
    }));
    const { failed } = await sweepOnce(slow, new Map(), h.clock.now() + sweepMs);
    return { failed, evaluations: read.length, seen: new Set(read).size, rests, sends: h.sent.length };
  };
  const crowd = { steps: 1, count: COUNT, lookMs: LOOK_MS, sweepMs: COUNT * LOOK_MS };

  it('is evaluated whole, and each evaluation that came too early is followed by a rest (L4)', async () => {
    const { failed, evaluations, seen, rests, sends } = await swept({ ...crowd, waiting: FULL_QUEUE });
    expect({ failed, seen }).toEqual({ failed: 0, seen: COUNT });
    expect(sends).toBeGreaterThanOrEqual(FREE_SENDS);
    expect(sends).toBeLessThanOrEqual(FREE_SENDS * Math.ceil((evaluations * LOOK_MS) / SWEEP_EVERY_MS));
    // The sweep met executions again only after they were deferred; the last eight evaluations ran at once,
    // so no time was left.
    expect(rests.length).toBeLessThanOrEqual(evaluations - sends);
    expect(rests.length).toBeGreaterThanOrEqual(COUNT - sends - 8);
  });

  it('is passed without a rest while there are messages for it', async () => {
    const { sends, rests } = await swept({ ...crowd, waiting: 0 });
    expect({ sends, rests }).toEqual({ sends: COUNT, rests: [] });
  });

  it.each([
    ['three times as long as the look took', 20, 600_000, 60],
    ['not longer than a second', 500, 600_000, 1_000],
    ['not beyond the end of the tick', 500, 1_010, 10],
  ])('is rested from %s', async (_, lookMs, sweepMs, restMs) => {
    // The first of two takes all free sends.
    const { rests } = await swept({ steps: FREE_SENDS, count: 2, lookMs, sweepMs, waiting: FULL_QUEUE });
    expect(rests).toEqual([restMs]);
  });
});
