/**
 * Short waits that begin while their execution's wake time is overdue: S12 no evaluation with an older read
 * sets a wake time after their ends (F3).
 */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { sweepOnce } from '../../lib/supervisor/sweep.ts';
import { anAgent, anyObject, drain, harness, type Harness, settle } from './harness.ts';
import { deferred, type Deferred, heldWrite } from './process.ts';

/** Leases and pickups of 10 s. */
const worker = anAgent('worker');
const SECOND_MS = 1_000;
const REST_MS = 5 * SECOND_MS;
const resting = workflow('resting', { input: anyObject, within: '1h' }, (w) => {
  const it = w.step('it', worker, {}, { recovery: [retry(1)] });
  w.wait('rest', { for: '5s', after: [it] });
});

interface AtWork {
  readonly h: Harness;
  readonly id: string;
  readonly work: Deferred<object>;
}

/** Starts an execution, and runs it until its step is in progress. */
async function atWork(): Promise<AtWork> {
  const work = deferred<object>();
  const h = harness(resting, { worker: { execute: () => work.promise, undo: async () => undefined } });
  const { id } = await h.begin();
  void drain(h);
  await settle();
  return { h, id, work };
}

const wakeAtOf = async ({ h, id }: AtWork): Promise<number> => (await h.state(id)).execution.wakeAt ?? 0;

const moveTo = async ({ h }: AtWork, at: number): Promise<void> => {
  for (let next = h.clock.nextWakeAt(); next !== undefined && next <= at; next = h.clock.nextWakeAt()) {
    h.clock.advanceTo(next);
    await settle();
  }
  h.clock.advanceTo(at);
};

/** Ends the step; its agent evaluates. @returns the time */
async function end({ h, work }: AtWork): Promise<number> {
  work.resolve({});
  await settle();
  return h.clock.now();
}

describe('the wake time of a wait of five seconds', () => {
  it.each([
    ['is overdue', 0],
    ['is overdue by a clock that is 4 s ahead', -4 * SECOND_MS],
  ])(
    'is met where a sweep reads before the step ends, and writes after it, and all %s (S12)',
    async (_, ms) => {
      const one = await atWork();
      const { h } = one;
      await moveTo(one, (await wakeAtOf(one)) + ms);
      const held = heldWrite(h, ({ execution }) => execution?.wakeAt !== undefined);
      const ahead = { ...held.ports, clock: { now: () => h.clock.now() - ms, sleep: h.clock.sleep } };
      const sweeping = sweepOnce(ahead, new Map(), ahead.clock.now());
      await held.arrived;
      const endedAt = await end(one);
      held.release();
      await sweeping;
      expect(await held.result).toBe('conflict');
      expect(await wakeAtOf(one)).toBeLessThanOrEqual(endedAt + REST_MS);
    },
  );

  it('is met where the step has lasted longer than the wake time that its claim read (S12)', async () => {
    const one = await atWork();
    const { h } = one;
    const readAt = await wakeAtOf(one);
    await moveTo(one, readAt);
    await h.sweep();
    expect(await wakeAtOf(one)).toBeGreaterThan(readAt + REST_MS);
    const endedAt = await end(one);
    expect(await wakeAtOf(one)).toBe(endedAt + REST_MS);
  });
});
