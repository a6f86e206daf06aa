/**
 * After an outage of the agents, the store or all supervisors, there is no stampede, and no lease is ended
 * falsely.
 */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Ports, Store } from '../../lib/core/ports.ts';
import { isLeased } from '../../lib/core/records/state.ts';
import { awayMs } from '../../lib/core/values/away.ts';
import { LEASE_MARGIN_MS } from '../../lib/core/step/lease.ts';
import { SENDS_PER_SWEEP } from '../../lib/supervisor/admission.ts';
import { Grace } from '../../lib/supervisor/outage.ts';
import { SWEEP_EVERY_MS, sweepOnce } from '../../lib/supervisor/sweep.ts';
import { anAgent, anyObject, type Harness, harness, settle } from '../engine/harness.ts';
import { deferred, withStore } from '../engine/process.ts';

const T0 = 1_700_000_000_000;
/** Lease and pickup, and so H. */
const H_MS = 10_000;
const worker = anAgent('worker', { timeout: '5m' });
const single = workflow('single', { input: anyObject, within: '10h' }, (w) => {
  w.step('it', worker, {});
  return {};
});
const fine = { execute: async () => ({}), undo: async () => undefined };

/** Evaluates at every wake time, and loses the sent messages. */
async function watched(h: Harness, id: string, untilAt: number): Promise<number[]> {
  const sentAt: number[] = [];
  for (;;) {
    const { wakeAt = Number.NaN } = (await h.state(id)).execution;
    if (!(wakeAt <= untilAt)) return sentAt;
    h.clock.advanceTo(wakeAt);
    await h.sweep();
    for (const _ of h.sent.splice(0)) sentAt.push(h.clock.now() - T0);
  }
}

/** Starts an execution whose agent dies at its first write after the claim. */
async function diedAtItsWrite(): Promise<{ h: Harness; id: string }> {
  const h = harness(single, { worker: fine });
  const { id } = await h.begin();
  const never = new Promise<never>(() => undefined);
  void h.deliver(
    h.sent.splice(0)[0] as never,
    withStore(h, (store) => ({ ...store, write: once(store.write, never) })),
  );
  await settle();
  return { h, id };
}

describe('a step that nobody takes', () => {
  const unclaimed = async () => {
    const h = harness(single, { worker: fine });
    const { id } = await h.begin();
    h.sent.splice(0);
    return { h, id };
  };

  it('is sent with doubling gaps; beyond 4 H it is deferred, and the wake time goes to its time (F11)', async () => {
    const { h, id } = await unclaimed();
    let evaluations = 0;
    let deferredEvaluations = 0;
    const sentAt: number[] = [];
    for (; h.clock.now() < T0 + 3_600_000; evaluations += 1) {
      const { execution, steps } = await h.state(id);
      if (steps['it']?.deferred !== undefined) {
        deferredEvaluations += 1;
        expect(execution.wakeAt).toBeLessThanOrEqual((steps['it'].retryAt as number) + H_MS);
      }
      h.clock.advanceTo(execution.wakeAt as number);
      await h.sweep();
      for (const _ of h.sent.splice(0)) sentAt.push((h.clock.now() - T0) / 1_000);
    }
    expect(sentAt).toEqual([10, 30, 70, 150, 310, 630, 1_270, 2_170, 3_070, 3_970].slice(0, sentAt.length));
    expect(sentAt.length).toBeGreaterThanOrEqual(9);
    expect(deferredEvaluations).toBeGreaterThan(4);
    // An hour at one evaluation per H would be 360.
    expect(evaluations).toBeLessThan(40);
    expect((await h.state(id)).steps['it']).toMatchObject({ attempt: 0, deferred: { why: 'unclaimed' } });
  });

  it('is still taken by a message that comes late, and the wake time is drawn near in the same write (S12, F4)', async () => {
    const { h, id } = await unclaimed();
    const [late] = await lateMessage(h, id);
    const before = await h.state(id);
    expect(before.execution.wakeAt).toBeGreaterThan(h.clock.now() + 2 * H_MS);
    const work = deferred<object>();
    h.implementations['worker'] = { ...fine, execute: () => work.promise };
    const handled = h.deliver(late as never);
    await settle();
    const { execution, steps } = await h.state(id);
    expect(steps['it']).toMatchObject({ status: 'running', attempt: 1 });
    expect(steps['it']).not.toHaveProperty('deferred');
    expect(execution.version).toBe(before.execution.version + 1);
    expect(execution.wakeAt).toBeLessThanOrEqual(h.clock.now() + H_MS);
    work.resolve({});
    expect(await handled).toBe('handled');
    expect((await h.state(id)).execution.status).toBe('succeeded');
  });

  async function lateMessage(h: Harness, id: string) {
    for (;;) {
      h.clock.advanceTo((await h.state(id)).execution.wakeAt as number);
      await h.sweep();
      if ((await h.state(id)).steps['it']?.deferred !== undefined) return h.sent.splice(-1);
    }
  }

  it('costs a message a quarter of an hour in the end, and is never left (S16)', async () => {
    const { h, id } = await unclaimed();
    const sentAt = await watched(h, id, T0 + 5 * 3_600_000);
    const gaps = sentAt.map((at, index) => at - (sentAt[index - 1] ?? 0));
    expect(gaps.slice(7)).toEqual(gaps.slice(7).map(() => 900_000));
    expect(sentAt).toHaveLength(25);
    expect((await h.run(id, { maxMs: 7_200_000 })).execution.status).toBe('succeeded');
  });
});

describe('the first sweeps after an outage', () => {
  it('send to an agent at a pace, oldest first, and evaluate deferred work only when its turn comes', async () => {
    const h = harness(single, { worker: fine });
    const count = 5 * SENDS_PER_SWEEP;
    for (let at = 0; at < count; at += 1) {
      await h.begin();
      h.clock.advanceTo(h.clock.now() + 1);
    }
    h.sent.splice(0);
    h.clock.advanceTo(T0 + 3_600_000);
    const evaluations: number[] = [];
    const order: string[] = [];
    for (let sweeps = 0; sweeps < 7; sweeps += 1) {
      evaluations.push((await sweepOnce(h, new Map(), h.clock.now())).due);
      expect(h.sent.length).toBeLessThanOrEqual(SENDS_PER_SWEEP);
      order.push(...h.sent.splice(0).map(({ message }) => message.execution));
      h.clock.advanceTo(h.clock.now() + SWEEP_EVERY_MS);
    }
    expect(order).toHaveLength(count);
    expect(evaluations.reduce((sum, due) => sum + due, 0)).toBeLessThan(2.5 * count);
    const places = order.slice(0, SENDS_PER_SWEEP).map((id) => Number(id.slice('e-'.length)));
    expect(places).toEqual(Array.from({ length: SENDS_PER_SWEEP }, (_, at) => at + 1));
  });

  /** A store that fails while the function says so. */
  const awayStore = (world: Ports, awayUntil: () => boolean): Ports =>
    withStore(world, (store) => {
      const check = <Call extends (...args: never[]) => Promise<unknown>>(call: Call): Call =>
        (async (...args: never[]) => {
          if (awayUntil()) throw new Error('the store is away');
          return call(...args);
        }) as Call;
      const { read, write, due, readExecution } = store as Store;
      return { read: check(read), write: check(write), due: check(due), readExecution: check(readExecution) };
    });

  const interrupted = async (outageMs: number) => {
    let away = false;
    const work = deferred<object>();
    const aborted: boolean[] = [];
    const h = harness(
      single,
      {
        worker: {
          ...fine,
          execute: async (ctx) => {
            ctx.signal.addEventListener('abort', () => aborted.push(true));
            return work.promise;
          },
        },
      },
      1,
      (world) => awayStore(world, () => away),
    );
    const grace = new Grace();
    const plans = new Map();
    const seen = h.scheduler.ports;
    const sweep = () => sweepOnce(seen, plans, h.clock.now(), grace);
    const { id } = await h.begin();
    void h.deliver(h.sent.splice(0)[0] as never, seen);
    await pass(h, 5_000, sweep);
    away = true;
    await pass(h, outageMs, sweep);
    away = false;
    return { h, id, work, aborted, sweep };
  };

  /** Lets time pass in steps of one sweep. */
  async function pass(h: Harness, ms: number, sweep: () => Promise<unknown>): Promise<void> {
    for (const untilAt = h.clock.now() + ms; h.clock.now() < untilAt; ) {
      h.clock.advanceTo(h.clock.now() + 1_000);
      await settle();
      await sweep();
    }
  }

  it('take no attempt for dead whose agent lives and could only not say so', async () => {
    const { h, id, work, aborted, sweep } = await interrupted(35_000);
    expect((await h.state(id)).steps['it']?.leaseUntil).toBeLessThan(h.clock.now() - LEASE_MARGIN_MS);
    // The very first sweep comes before the agent's next heartbeat.
    await sweep();
    expect(isLeased((await h.state(id)).steps['it'])).toBe(true);
    await pass(h, 12_000, sweep);
    const { steps } = await h.state(id);
    expect(steps['it']).toMatchObject({ status: 'running', attempt: 1, mayHaveActed: false });
    expect(steps['it']?.leaseUntil).toBeGreaterThan(h.clock.now());
    expect([h.sent, aborted]).toEqual([[], []]);
    work.resolve({});
    await pass(h, 3_000, sweep);
    expect((await h.state(id)).execution.status).toBe('succeeded');
  });

  it('do not lose the result of work that was done meanwhile (P7)', async () => {
    const { h, id, work, sweep } = await interrupted(20_000);
    work.resolve({ shipped: true });
    await pass(h, 8_000, sweep);
    expect((await h.state(id)).execution.status).toBe('succeeded');
    expect((await h.state(id)).steps['it']).toMatchObject({ attempt: 1, output: { shipped: true } });
  });

  it('notice an agent that died in the outage one lease later than otherwise (L2)', async () => {
    const { h, id } = await diedAtItsWrite();
    const { leaseUntil = Number.NaN } = (await h.state(id)).steps['it'] ?? {};
    const grace = new Grace();
    const backAt = leaseUntil + 30_000;
    const broken = withStore(h, () => ({ due: () => Promise.reject(new Error('the store is away')) }));
    await sweepOnce(broken, new Map(), backAt, grace);
    h.clock.advanceTo(backAt);
    await sweepOnce(h, new Map(), backAt, grace);
    expect(isLeased((await h.state(id)).steps['it'])).toBe(true);
    const { wakeAt = Number.NaN } = (await h.state(id)).execution;
    expect(wakeAt).toBe(backAt + H_MS);
    h.clock.advanceTo(wakeAt);
    await sweepOnce(h, new Map(), wakeAt, grace);
    h.clock.advanceTo(backAt + H_MS + LEASE_MARGIN_MS);
    await sweepOnce(h, new Map(), h.clock.now(), grace);
    expect(isLeased((await h.state(id)).steps['it'])).toBe(false);
  });

  it('take for dead at once what must be dead, however short the grace', async () => {
    const { h, id } = await diedAtItsWrite();
    const { processDeadlineAt = Number.NaN } = (await h.state(id)).steps['it'] ?? {};
    h.clock.advanceTo(processDeadlineAt + 3_600_000);
    await sweepOnce(h, new Map(), h.clock.now());
    expect(isLeased((await h.state(id)).steps['it'])).toBe(false);
  });

  it('are not taken for such because of one poisonous item, however long it is overdue', () => {
    const grace = new Grace();
    const poison = { shard: 0, due: 1, failed: 1, oldestOverdueMs: 9_000_000, busy: true };
    // A process that has just started cannot know better, once.
    expect(grace.begins(T0, 9_000_000)).toBe(true);
    grace.swept(T0, [poison]);
    for (let at = T0; at < T0 + 600_000; at += 2_000) {
      expect(grace.begins(at, 9_000_000)).toBe(false);
      grace.swept(at, [poison]);
    }
    expect(grace.since).toBe(T0);
  });

  it('are recognised by a tick that came late, and by a call that failed', () => {
    const grace = new Grace();
    const good = { shard: 0, due: 40, failed: 1, oldestOverdueMs: 60_000, busy: true };
    const unread = { shard: 1, due: 0, failed: 1, oldestOverdueMs: 0, busy: true };
    expect(grace.begins(T0, 60_000)).toBe(false);
    grace.swept(T0, [good, unread]);
    expect(grace.begins(T0 + 60_000, 60_000)).toBe(false);
    grace.swept(T0 + 60_000, [unread]);
    expect(grace.begins(T0 + 62_000, 0)).toBe(false);
    grace.swept(T0 + 62_000, [unread]);
    expect(grace.begins(T0 + 64_000, 0)).toBe(true);
    grace.swept(T0 + 64_000, [{ ...good, failed: 20 }]);
    expect(grace.begins(T0 + 67_000, 0)).toBe(true);
    expect(grace.since).toBe(T0 + 67_000);
  });
});

/** Lets the first call through and hangs later ones, as for a process that dies after its claim. */
function once<Args extends unknown[], Value>(
  call: (...args: Args) => Promise<Value>,
  never: Promise<never>,
): (...args: Args) => Promise<Value> {
  let used = false;
  return async (...args) => {
    if (used) return never;
    used = true;
    return call(...args);
  };
}

it('remembers all time in which nothing ran, of many that are long ago as one', () => {
  const grace = new Grace();
  for (let at = 1; at <= 25; at += 1) grace.wasAway(at * 1_000, at === 1 ? 600_000 : 2_000);
  expect(grace.away.length).toBeLessThanOrEqual(10);
  expect(awayMs(grace.away, 500)).toBe(600_000 + 24 * 2_000);
  expect(awayMs(grace.away, 23_500)).toBe(2 * 2_000);
});
