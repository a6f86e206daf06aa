/**
 * The supervisor's sweep: L2–L5, C3, S12; a bad item delays no other, a dead supervisor delays work by one
 * tick, ends are announced.
 */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { SENDS_PER_SWEEP } from '../../lib/supervisor/admission.ts';
import { SWEEP_EVERY_MS, sweepOnce, tick } from '../../lib/supervisor/sweep.ts';
import { anAgent, anyObject, harness, type Harness, settle } from '../engine/harness.ts';
import { aProcess, deferred, never, withStore } from '../engine/process.ts';

const worker = anAgent('worker');
const PICKUP_MS = 10_000;
const single = workflow('single', { input: anyObject, within: '1h' }, (w) => {
  w.step('it', worker, {}, { recovery: [retry(1)] });
});
const fine = { execute: async () => ({}), undo: async () => undefined };
const open = (wrap?: Parameters<typeof harness>[3]): Harness => harness(single, { worker: fine }, 1, wrap);

/** Loses all messages in the queue. @returns how many */
const loseAll = (h: Harness): number => h.sent.splice(0).length;

describe('a sweep', () => {
  it('sends again what nobody picked up, a pickup time after it was due (L3)', async () => {
    const h = open();
    const { id } = await h.begin();
    loseAll(h);
    h.clock.advanceTo(h.clock.now() + PICKUP_MS - 1);
    await h.sweep();
    expect(h.sent).toEqual([]);
    h.clock.advanceTo(h.clock.now() + 1);
    await h.sweep();
    expect(h.sent).toMatchObject([{ message: { execution: id, step: 'it', attempt: 1 } }]);
  });

  it('that stood still after its read puts the wake time no later than it would have then (S12)', async () => {
    const h = open((world) =>
      withStore(world, (store) => ({
        read: async (id) => {
          const state = await store.read(id);
          // The supervisor is frozen after its read; meanwhile another process may claim the step.
          if (world.clock.now() === readAt) world.clock.advanceTo(readAt + 4_000);
          return state;
        },
      })),
    );
    let readAt = Number.NaN;
    const { id, wakeAt = 0 } = await h.begin();
    readAt = wakeAt;
    h.clock.advanceTo(readAt);
    await h.sweep();
    expect((await h.state(id)).execution.wakeAt).toBe(readAt + PICKUP_MS);
  });

  it('of the same thing twice at once sends it once', async () => {
    const h = open();
    await h.begin();
    loseAll(h);
    h.clock.advanceTo(h.clock.now() + PICKUP_MS);
    await Promise.all([h.sweep(), h.sweep(), h.sweep()]);
    expect(h.sent).toHaveLength(1);
  });

  it('repeats what nobody claims with growing gaps (S16)', async () => {
    const h = open();
    const { id } = await h.begin();
    loseAll(h);
    const startedAt = h.clock.now();
    const sentAt: number[] = [];
    while (h.clock.now() < startedAt + 200_000) {
      h.clock.advanceTo((await h.state(id)).execution.wakeAt ?? 0);
      await h.sweep();
      if (loseAll(h) > 0) sentAt.push((h.clock.now() - startedAt) / 1_000);
    }
    expect(sentAt).toEqual([10, 30, 70, 150, 310]);
  });

  it('leaves alone what a live agent works on', async () => {
    const work = deferred<object>();
    const h = harness(single, { worker: { ...fine, execute: () => work.promise } });
    const { id } = await h.begin();
    await h.run(id, { until: ({ steps }) => steps['it']?.heartbeat === 2 });
    const { steps } = await h.state(id);
    await h.sweep();
    expect((await h.state(id)).steps).toEqual(steps);
    expect(h.sent).toEqual([]);
    work.resolve({});
  });

  it('goes on past an item that cannot be read, and says so (L4)', async () => {
    const h = open((world) =>
      withStore(world, (store) => ({
        read: async (id) => {
          if (id === 'e-2') throw new Error('it is poison');
          return store.read(id);
        },
      })),
    );
    for (let count = 0; count < 3; count += 1) await h.begin().catch(() => undefined);
    loseAll(h);
    h.clock.advanceTo(h.clock.now() + PICKUP_MS);
    await h.sweep();
    expect(h.sent.map(({ message }) => message.execution).sort()).toEqual(['e-1', 'e-3']);
    expect(h.notes).toContainEqual({ what: 'evaluation-failed', executionId: 'e-2', detail: 'Error' });
  });

  it('goes on past an execution whose plan is gone (L4)', async () => {
    const h = open((world) =>
      withStore(world, (store) => ({
        readPlan: async (hash) => (hash === 'gone' ? undefined : store.readPlan(hash)),
      })),
    );
    const { id } = await h.begin();
    const { execution } = await h.state(id);
    await h.store.create({ ...execution, id: 'e-0', plan: 'gone' });
    loseAll(h);
    h.clock.advanceTo(h.clock.now() + PICKUP_MS);
    await h.sweep();
    expect(h.sent.map(({ message }) => message.execution)).toEqual([id]);
    expect(h.notes).toContainEqual({
      what: 'evaluation-failed',
      executionId: 'e-0',
      detail: 'no-plan: the plan gone is not in the state table',
    });
  });

  it('pages through everything that is due, though looking at it takes it out of the index', async () => {
    const h = open();
    for (let count = 0; count < 350; count += 1) await h.begin();
    loseAll(h);
    h.clock.advanceTo(h.clock.now() + PICKUP_MS);
    const sweep = await sweepOnce(h, new Map(), h.clock.now());
    expect(sweep).toMatchObject({ due: 350, failed: 0, busy: true });
    // Evaluated, and sent at a limited rate: the rest has its turn in the next sweeps.
    expect(h.notes.filter(({ what }) => what === 'dispatched')).toHaveLength(SENDS_PER_SWEEP);
    for (let sweeps = 1; sweeps < 4; sweeps += 1) {
      h.clock.advanceTo(h.clock.now() + SWEEP_EVERY_MS);
      await h.sweep();
    }
    expect(h.sent).toHaveLength(350);
    expect(new Set(h.sent.map(({ message }) => message.execution)).size).toBe(350);
  });

  it('of a claim between its read and its write sets no wake time past the new lease (S12, F3)', async () => {
    const h = harness(single, { worker: { ...fine, execute: () => never } });
    const { id } = await h.begin();
    const send = h.sent.splice(0)[0];
    const admission = deferred<void>();
    const arrived = deferred<void>();
    const slow = withStore(h, (store) => ({
      write: async (write) => {
        arrived.resolve();
        await admission.promise;
        return store.write(write);
      },
    }));
    h.clock.advanceTo(h.clock.now() + PICKUP_MS);
    const sweeping = sweepOnce(slow, new Map(), h.clock.now());
    await arrived.promise;
    const dead = aProcess(h);
    if (send !== undefined) void h.deliver(send, dead.ports);
    await settle();
    dead.kill();
    admission.resolve();
    await sweeping;
    const { execution, steps } = await h.state(id);
    expect(execution.wakeAt).toBeLessThanOrEqual(steps['it']?.leaseUntil ?? 0);
  });

  it('of an empty index asks once a shard and does nothing else (C3)', async () => {
    let asked = 0;
    const h = open((world) =>
      withStore(world, (store) => ({
        shards: 4,
        due: async (shard, untilAt, cursor) => {
          asked += 1;
          return store.due(shard, untilAt, cursor);
        },
      })),
    );
    await h.sweep();
    expect(asked).toBe(4);
  });
});

describe('the end of an execution', () => {
  it('is announced again if the process dies between announcing it and recording that', async () => {
    const h = open();
    const doomed = aProcess({
      ...h,
      announcer: {
        announce: async (ended) => {
          await h.announcer.announce(ended);
          doomed.kill();
        },
      },
    });
    const { id } = await h.begin();
    const { execution } = await h.run(id, { portsOf: () => doomed.ports });
    expect(execution.status).toBe('succeeded');
    expect(execution.wakeAt).toBeUndefined();
    expect(h.announced).toHaveLength(2);
    expect(h.announced[1]).toEqual(h.announced[0]);
  });

  it('is announced until the bus takes it', async () => {
    let tries = 0;
    const h = open((world) => ({
      ...world,
      announcer: {
        announce: async (ended) => {
          tries += 1;
          if (tries <= 5) throw new Error('the bus is away');
          await world.announcer.announce(ended);
        },
      },
    }));
    const { id } = await h.begin();
    const { execution } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded' });
    expect(h.announced).toHaveLength(1);
  });

  it('is announced once if nothing goes wrong, and then has no wake time any more (C3)', async () => {
    const h = open();
    const { id } = await h.begin();
    await h.run(id, { supervised: false });
    expect(h.announced).toMatchObject([{ executionId: id, workflow: 'single', status: 'succeeded' }]);
    expect(await h.store.due(0, Number.MAX_SAFE_INTEGER)).toEqual({ items: [] });
  });
});

describe('a tick', () => {
  const ticking = async (h: Harness, untilAt: number, store = h.store): Promise<number> => {
    const sweeps = tick({ ...h, store }, new Map(), { untilAt, sweepEveryMs: SWEEP_EVERY_MS });
    await settle();
    for (let at = h.clock.nextWakeAt(); at !== undefined; at = h.clock.nextWakeAt()) {
      h.clock.advanceTo(at);
      await settle();
    }
    return (await sweeps).length;
  };

  it('with nothing due before the next one is over after one sweep (C3)', async () => {
    const h = open();
    expect(await ticking(h, h.clock.now() + 57_000)).toBe(1);
    await h.begin();
    expect(await ticking(h, h.clock.now() + PICKUP_MS - 1)).toBe(1);
  });

  it('with something due before the next one stays, and ends in time', async () => {
    const h = open();
    await h.begin();
    loseAll(h);
    const startedAt = h.clock.now();
    expect(await ticking(h, startedAt + 57_000)).toBe(29);
    expect(h.clock.now()).toBeLessThan(startedAt + 57_000);
    expect(h.sent.length).toBeGreaterThan(0);
  });

  it('whose index cannot be read stays, for it may come back', async () => {
    const h = open();
    await h.begin();
    loseAll(h);
    let asked = 0;
    const flaky = withStore(h, (store) => ({
      due: async (...args) => {
        asked += 1;
        if (asked <= 3) throw new Error('throttled');
        return store.due(...args);
      },
    }));
    await ticking(h, h.clock.now() + 57_000, flaky.store as Harness['store']);
    expect(h.sent.length).toBeGreaterThan(0);
    expect(h.notes.filter(({ what }) => what === 'sweep-failed')).toHaveLength(3);
  });
});
