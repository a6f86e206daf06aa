/** Pause and resume: no new work starts, attempts in progress finish, and no work is lost. */

import { executionView } from '../../lib/api/views.ts';
import { explain } from '../../lib/explain/why.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import { reconcile } from '../../lib/engine/reconcile.ts';
import { cancel, pause, resume } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { chain, failingOnce, quick, undo } from '../engine/chain.ts';
import { drain, type Harness, harness, settle } from '../engine/harness.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** An open execution is evaluated again within this time (S12). */
const HORIZON_MS = 30_000;

describe('a pause', () => {
  it('starts nothing, and wakes until nothing can begin any more, and at its deadline (S12)', async () => {
    const h = quick();
    const { id } = await h.begin();
    const at = h.clock.now();
    await pause(h.scheduler, id, { reason: 'the bank is closed' });
    // The message of the start is still on its way.
    await drain(h);
    const { execution, steps } = await h.state(id);
    expect([execution.status, steps]).toEqual(['paused', {}]);
    expect(execution.wakeAt).toBeLessThanOrEqual(at + HORIZON_MS);
    h.clock.advanceTo(at + HORIZON_MS);
    await h.sweep();
    expect((await h.state(id)).execution.wakeAt).toBe(at + 7 * DAY);
  });

  it('lets an attempt go on to its end, and starts nothing that follows from it', async () => {
    let finish: (() => void) | undefined;
    const h = harness(chain, {
      first: { execute: () => new Promise((resolve) => (finish = () => resolve({}))), undo },
      second: { execute: async () => ({}), undo },
    });
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    const handled = h.deliver(send as never);
    await settle();
    await pause(h.scheduler, id, {});
    finish?.();
    await handled;
    // The claim's own state did not show a pause, so a hint was sent.
    await drain(h);
    const { execution, steps } = await h.state(id);
    expect(execution.status).toBe('paused');
    expect(steps).toEqual({ a: expect.objectContaining({ status: 'done' }) });
    await resume(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  interface Slow {
    /** How long each read takes. */
    readsMs?: readonly number[];
    /** How long the claim's write takes. */
    writeMs?: number;
    /** How far the process's clock is ahead until its first read is answered. */
    aheadMs?: number;
    isPaused?: boolean;
    /** Runs before the claim is written. */
    before?: (h: Harness, id: string) => Promise<void>;
    /** Runs when the attempt begins. */
    begins?: () => Promise<void>;
    /** Runs instead of the writes after the claim, to refuse them. */
    follows?: () => Promise<never>;
  }

  /** Pauses an execution while a process reads it and claims its first step. */
  async function claimed({ readsMs = [], writeMs = 0, aheadMs = 0, isPaused = true, ...more }: Slow) {
    const h = quick();
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    let [reads, wrongMs] = [0, aheadMs];
    const store = Object.assign(Object.create(h.store) as typeof h.store, {
      read: async (of: string) => {
        const state = await h.store.read(of);
        if (reads === 0 && isPaused) await pause(h.scheduler, id, {});
        h.clock.advanceTo(h.clock.now() + (readsMs[reads] ?? 0));
        if (reads === 0) await h.sweep();
        wrongMs = 0;
        reads += 1;
        return state;
      },
      write: async (write: Write) => {
        const isClaim = write.step?.leaseUntil !== undefined && write.step.heartbeat === 0;
        if (!isClaim && began.length === 0 && more.follows !== undefined) return more.follows();
        if (!isClaim) return h.store.write(write);
        h.clock.advanceTo(h.clock.now() + writeMs);
        await (more.before?.(h, id) ?? h.sweep());
        return h.store.write(write);
      },
    });
    const began: (number | undefined)[] = [];
    const first = h.implementations['first'] as { execute: () => Promise<unknown> };
    const { execute } = first;
    first.execute = async () => {
      await more.begins?.();
      began.push((await h.state(id)).execution.wakeAt);
      return execute();
    };
    const clock = Object.assign(Object.create(h.clock) as typeof h.clock, {
      now: () => h.clock.now() + wrongMs,
      sleep: (ms: number, signal?: AbortSignal) => h.clock.sleep(ms, signal),
    });
    const result = await h.deliver(send as never, { ...h, store, clock });
    return { h, id, began, reads, result };
  }

  it.each([
    [3_000, 0, 1],
    [3_001, 0, 0],
    // By its own clock it was read in the future.
    [20_000, 120_000, 0],
  ])(
    'that comes %s ms before a claim of what was read before it, by a clock set back by %s ms: %s begin (F1)',
    async (readMs, aheadMs, count) => {
      const { h, id, began } = await claimed({ readsMs: [readMs], aheadMs });
      expect(began).toHaveLength(count);
      const { execution, steps } = await h.state(id);
      expect([execution.status, steps['a']?.status]).toEqual(['paused', count === 1 ? 'done' : undefined]);
    },
  );

  it.each([
    [6_000, false],
    [6_001, true],
    [HORIZON_MS + 14_000, true],
  ])('waits for the lease of a claim whose write took %s ms (S12)', async (writeMs, isLate) => {
    const { h, began, reads } = await claimed({ writeMs });
    expect([began.length, reads > 2]).toEqual([1, isLate]);
    expect((began[0] ?? Number.POSITIVE_INFINITY) - h.clock.now()).toBeLessThan(2 * HORIZON_MS);
  });

  it('waits for it also where a supervisor has read before that claim, and writes after it (F3)', async () => {
    let go: (() => void) | undefined;
    let swept: Promise<unknown> = Promise.resolve();
    const { h, began } = await claimed({
      writeMs: 14_500,
      before: (of, id) =>
        new Promise((hasDecided) => {
          const held = new Promise<void>((resolve) => (go = resolve));
          const store = Object.assign(Object.create(of.store) as typeof of.store, {
            write: (write: Write) => {
              hasDecided();
              return held.then(() => of.store.write(write));
            },
          });
          swept = reconcile({ ...of, store }, chain.plan, id, { by: 'supervisor', affected: [] });
        }),
      begins: async () => {
        go?.();
        await swept;
      },
    });
    expect((began[0] ?? Number.POSITIVE_INFINITY) - h.clock.now()).toBeLessThan(2 * HORIZON_MS);
  });

  it('costs no attempt where what follows from a late claim fails, nor where it was the last lap', async () => {
    const failing = await claimed({ writeMs: 20_000, follows: () => Promise.reject(new Error('away')) });
    expect([failing.began.length, failing.result]).toEqual([1, 'handled']);
    const readsMs = [3_001, 3_001, 3_001, 3_001];
    const last = await claimed({ readsMs, writeMs: 6_001, isPaused: false });
    expect([last.began.length, last.result]).toEqual([1, 'handled']);
  });

  it('keeps a late success, in one transaction with the execution', async () => {
    let tries = 0;
    let isAway = false;
    let finish: (() => void) | undefined;
    const implementations = {
      first: { execute: async () => ({}), undo },
      second: {
        execute: async () => {
          tries += 1;
          return new Promise((resolve) => (finish = () => resolve({ late: true })));
        },
        undo,
        probe: async () => ({ verdict: 'cannot-tell' as const }),
      },
    };
    const h = harness(chain, implementations, 1, (world) => ({
      ...world,
      store: Object.assign(Object.create(world.store) as typeof world.store, {
        write: async (write: Write) =>
          isAway ? Promise.reject(new Error('away')) : world.store.write(write),
      }),
    }));
    const { id } = await h.begin();
    for (const send of h.sent.splice(0)) await h.deliver(send);
    const handled = h.deliver(h.sent.splice(0)[0] as never);
    await settle();
    const held = (await h.state(id)).steps['b'];
    // The attempt's heartbeats do not reach the store.
    isAway = true;
    h.clock.advanceTo((held?.leaseUntil ?? 0) + 1_100);
    await settle();
    isAway = false;
    await pause(h.scheduler, id, {});
    await h.sweep();
    expect((await h.state(id)).steps['b']).toMatchObject({ status: 'unknown' });
    const before = (await h.state(id)).execution.version;
    finish?.();
    for (let n = 0; n < 30; n += 1) {
      await settle();
      h.clock.advanceTo(h.clock.now() + 500);
    }
    await handled;
    const { execution, steps } = await h.state(id);
    expect(tries).toBe(1);
    expect(steps['b']).toMatchObject({ status: 'done', output: { late: true } });
    expect(execution.version).toBeGreaterThan(before);
    // Everything is done, and nothing is left that could be paused.
    expect(execution.status).toBe('succeeded');
  });
});

describe('the end of a pause', () => {
  it('gives the time back: to the execution and to its open questions', async () => {
    const h = harness(chain, {
      first: { execute: async () => ({}), undo },
      second: { execute: async () => Promise.reject(new TransientError('503')), undo },
    });
    const { id } = await h.begin();
    await drain(h);
    const before = await h.state(id);
    expect(before.execution.status).toBe('waiting');
    await pause(h.scheduler, id, {});
    h.clock.advanceTo(h.clock.now() + 5 * HOUR);
    // No supervisor would evaluate before the end of the pause; an evaluation then decides nothing.
    await reconcile(h, chain.plan, id, { by: 'supervisor', affected: [] });
    expect((await h.state(id)).execution.status).toBe('paused');
    expect(explain(chain.plan, await h.state(id), h.clock.now()).steps[1]?.next.what).toContain(
      'stands still',
    );
    expect((await resume(h.scheduler, id, {})).status).toBe('waiting');
    const { execution, questions } = await h.state(id);
    expect(execution.status).toBe('waiting');
    expect(execution.deadlineAt).toBe(before.execution.deadlineAt + 5 * HOUR);
    expect(questions?.[1]).toMatchObject({
      movedFor: 1,
      deadlineAt: (before.questions?.[1]?.deadlineAt ?? 0) + 5 * HOUR,
    });
    expect((await h.run(id, { maxMs: 9 * HOUR })).execution.status).toBe('compensated');
  });

  it('goes on with a retry as a retry', async () => {
    const h = harness(chain, {
      first: { execute: failingOnce(), undo },
      second: { execute: async () => ({}), undo },
    });
    const { id } = await h.begin();
    await h.deliver(h.sent.splice(0)[0] as never);
    await pause(h.scheduler, id, {});
    const retryAt = async () => executionView(await h.state(id), chain.plan, h.clock.now()).steps[0]?.retryAt;
    expect((await h.state(id)).steps['a']).toMatchObject({ status: 'retrying', attempt: 1 });
    expect(await retryAt()).toBeUndefined();
    await resume(h.scheduler, id, {});
    expect(await retryAt()).toBe((await h.state(id)).steps['a']?.retryAt);
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['a']?.attempt).toBe(2);
  });

  it('goes on with an unknown outcome by asking for it, not by another attempt', async () => {
    let tries = 0;
    const h = harness(chain, {
      first: { execute: async () => ({}), undo },
      second: {
        execute: async () => {
          tries += 1;
          throw new Error('socket hang up');
        },
        undo,
        probe: async () => ({ verdict: 'done', output: {} }),
      },
    });
    const { id } = await h.begin();
    for (let n = 0; n < 2; n += 1) await h.deliver(h.sent.splice(0)[0] as never);
    await pause(h.scheduler, id, {});
    expect((await h.state(id)).steps['b']).toMatchObject({ status: 'unknown' });
    await resume(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(tries).toBe(1);
  });

  it.each([
    ['resume', 'succeeded'],
    ['undo-all', 'canceled'],
    ['keep', 'failed'],
  ] as const)('is asked for when its time is over, and a person answers: %s', async (choice, status) => {
    const h = quick();
    const { id } = await h.begin();
    await pause(h.scheduler, id, { withinMs: 2 * HOUR });
    h.clock.advanceTo(h.clock.now() + 2 * HOUR);
    await h.sweep();
    const { execution, questions } = await h.state(id);
    expect(execution.status).toBe('paused');
    expect(questions?.[1]).toMatchObject({ kind: 'pause', otherwise: 'undo-all' });
    expect(questions?.[1]).not.toHaveProperty('step');
    expect(execution.wakeAt).toBe(questions?.[1]?.deadlineAt);
    await resolveIncident(h.scheduler, id, { incident: 1, choice });
    expect((await h.run(id)).execution.status).toBe(status);
  });

  it('comes by itself when nobody answers either (L1)', async () => {
    const h = quick();
    const { id } = await h.begin();
    await pause(h.scheduler, id, {});
    const { execution, questions } = await h.run(id, { maxMs: 20 * DAY });
    expect(execution).toMatchObject({ status: 'failed', cause: { kind: 'deadline' } });
    expect(questions?.[1]).toMatchObject({ closedBy: 'deadline', choice: 'undo-all' });
  });

  it('may be a cancel: held steps never start', async () => {
    const h = quick();
    const { id } = await h.begin();
    await pause(h.scheduler, id, {});
    await cancel(h.scheduler, id, {});
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('canceled');
    expect(steps['a']).toMatchObject({ status: 'fenced', attempt: 0 });
    expect(execution.pauses?.[0]?.endedAt).toBeDefined();
  });

  it('answers its question, when an operator resumes', async () => {
    const h = quick();
    const { id } = await h.begin();
    await pause(h.scheduler, id, { withinMs: HOUR });
    h.clock.advanceTo(h.clock.now() + HOUR);
    await h.sweep();
    await resume(h.scheduler, id, { reason: 'open again' });
    const { execution, questions } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(questions?.[1]).toMatchObject({ closedBy: 'answer', choice: 'resume', reason: 'open again' });
  });
});
