/** A pause extends a step's `within`, even for an attempt and a report that have not seen the pause. */

import { askPerson, retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import { pause, resume } from '../../lib/scheduler/commands.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anyObject, harness } from './harness.ts';
import { cars, once } from './holiday.ts';
import { never, withStore } from './process.ts';

const MINUTE = 60_000;
const PATIENT = { recovery: [retry(50, { delay: '5s', maxDelay: '5s' })], within: '1m' } as const;
const busy = async (): Promise<never> => {
  throw new TransientError('busy');
};

describe('a pause', () => {
  it('is given back to the time of a step', async () => {
    const flow = workflow('paused', { input: anyObject, within: '2h' }, (w) => {
      w.step('car', cars, {}, PATIENT);
    });
    const h = harness(flow, { cars: { execute: busy, undo: async () => undefined } });
    const startedAt = h.clock.now();
    const { id } = await h.begin();
    await h.run(id, { until: () => h.clock.now() >= startedAt + MINUTE / 2 });
    await pause(h.scheduler, id, { commandId: 'p' });
    const paused = await h.run(id, { until: (state) => state.steps['car']?.leaseUntil === undefined });
    h.clock.advanceTo(h.clock.now() + 30 * MINUTE);
    await resume(h.scheduler, id, { commandId: 'r' });
    const { steps } = await h.run(id);
    const [one] = (await h.state(id)).execution.pauses ?? [];
    const pausedMs = (one?.endedAt ?? 0) - (one?.at ?? 0);
    expect(paused.steps['car']?.status).toBe('retrying');
    expect(steps['car']).toMatchObject({ status: 'failed', failure: { code: 'within' } });
    expect(steps['car']?.changedAt).toBeGreaterThanOrEqual(startedAt + MINUTE + pausedMs);
    expect(steps['car']?.changedAt).toBeLessThan(startedAt + MINUTE + pausedMs + 2_000);
  });
});

describe('a pause that began after its claim', () => {
  const flow = workflow('spans', { input: anyObject, within: '3h' }, (w) => {
    w.step('car', cars, {}, { ...once, within: '45s' });
  });
  /** Runs an attempt until second 50, with a pause from second 30 on. */
  const spanning = async (pausedMs: number, wrap?: (world: MemoryWorld) => Ports) => {
    const aborted: number[] = [];
    const leftMs: number[] = [];
    const h = harness(
      flow,
      {
        cars: {
          execute: async (ctx) => {
            ctx.signal.addEventListener('abort', () => aborted.push(h.clock.now() - startedAt));
            await h.clock.sleep(startedAt + 50_000 - h.clock.now());
            leftMs.push(ctx.timeLeftMs());
            return { id: 'x' };
          },
          undo: async () => undefined,
        },
      },
      1,
      wrap,
    );
    const { id, startedAt } = await h.begin();
    const at = (ms: number) => () => h.clock.now() >= startedAt + ms;
    void h.clock.sleep(30_000);
    void h.clock.sleep(30_000 + pausedMs);
    await h.run(id, { deliverable: at(25_000), until: ({ steps }) => steps['car']?.status === 'running' });
    await pause(h.scheduler, id, { commandId: 'p' });
    await h.run(id, { until: at(30_000 + pausedMs) });
    await resume(h.scheduler, id, { commandId: 'r' });
    return { end: await h.run(id), aborted, leftMs };
  };

  it('gives an attempt under way more time, too', async () => {
    for (const pausedMs of [10_000, 18_000]) {
      const { end, aborted } = await spanning(pausedMs);
      expect([aborted, end.execution.status, end.steps['car']?.attempt]).toEqual([[], 'succeeded', 1]);
    }
  });

  it('gives it to what the attempt is told of its time', async () => {
    const { leftMs, aborted } = await spanning(18_000);
    expect(aborted).toEqual([]);
    // 45 s and the pause from second 30 on, of which 50 s have passed.
    expect(leftMs).toEqual([expect.closeTo(13_000, -4)]);
    expect(leftMs[0]).toBeGreaterThan(0);
    expect((await spanning(1_000)).leftMs).toEqual([0]);
  });

  it('but not more than it took, nor where the store does not say', async () => {
    expect((await spanning(1_000)).aborted).toEqual([46_000]);
    const silent = await spanning(10_000, (world) =>
      withStore(world, () => ({ readExecution: () => never })),
    );
    expect(silent.aborted).toEqual([46_000]);
  });
});

it('a report does not take the time of a step for over by a read that a pause has come after', async () => {
  const flow = workflow('read', { input: anyObject, within: '3h' }, (w) => {
    w.step('car', cars, {}, { recovery: [askPerson()], within: '30s' });
  });
  let slowReads: number | undefined;
  const execute = async (): Promise<never> => {
    await h.clock.sleep(29_000);
    return busy();
  };
  const h = harness(flow, { cars: { execute, undo: async () => undefined } }, 1, (world) =>
    withStore(world, (store) => ({
      // The report's first write loses a race, and the read after it answers in 3 s.
      write: async (write) => {
        if (slowReads !== undefined || write.step?.status !== 'waiting') return store.write(write);
        slowReads = 1;
        return 'conflict';
      },
      read: async (id) => {
        const state = await store.read(id);
        if (slowReads === 1) {
          slowReads = 0;
          await world.clock.sleep(3_000);
        }
        return state;
      },
    })),
  );
  const { id, startedAt } = await h.begin();
  void h.clock.sleep(29_500);
  await h.run(id, { until: () => h.clock.now() >= startedAt + 29_500 });
  await pause(h.scheduler, id, { commandId: 'p' });
  const { steps } = await h.run(id, { until: (state) => state.steps['car']?.leaseUntil === undefined });
  expect(steps['car']).toMatchObject({ status: 'waiting', failure: { code: 'TransientError' } });
});
