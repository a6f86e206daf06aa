/** Executions in a lane run one after the other, in the order of their keys, however each of them ends. */

import * as z from 'zod/mini';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { LaneEntry } from '../../lib/core/records/lane.ts';
import { atLane } from '../../lib/engine/lanes.ts';
import { riskAt } from '../../lib/core/records/risk.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { cancel, pause, resume, retry as tryAgain } from '../../lib/scheduler/commands.ts';
import { createScheduler, start } from '../../lib/scheduler/start.ts';
import type { Implementation } from '../../lib/core/plan/agent.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, drain, type Harness, harness, settle } from './harness.ts';

const input = z.object({ account: z.any(), fails: z.optional(z.boolean()) });
const worker = anAgent('worker');
const once = { recovery: [retry(0)] };
const byAccount = {
  key: (given: object) => (given as { account: never }).account,
  waitWithin: '1h',
} as const;

const flowOf = (atMost = 1) =>
  workflow('flow', { input, within: '10m', concurrency: { ...byAccount, limit: atMost } }, (w) => {
    const first = w.step('first', worker, { fails: w.input.fails } as never, once);
    w.step('second', worker, {}, { after: [first], ...once });
  });

interface Service {
  /** The executions that are using the service now, and the largest number at once. */
  readonly inside: Set<string>;
  readonly order: string[];
  most: number;
}

function inLane(atMost = 1, wrap?: (world: MemoryWorld) => MemoryWorld): { h: Harness; service: Service } {
  const service: Service = { inside: new Set(), order: [], most: 0 };
  const execute: Implementation<unknown, unknown>['execute'] = async (ctx, given) => {
    if ((given as { fails?: boolean }).fails === true) throw new PermanentError('declined');
    const { executionId: id, step } = ctx as { executionId: string; step: string };
    if (step === 'first') service.order.push(id);
    service.inside.add(id);
    service.most = Math.max(service.most, service.inside.size);
    if (step === 'second') service.inside.delete(id);
    return {};
  };
  const h = harness(flowOf(atMost), { worker: { execute, undo: async () => undefined } }, 1, wrap);
  return { h, service };
}

const statusOf = async (h: Harness, id: string) => (await h.state(id)).execution.status;
const asked = { commandId: 'c1', reason: 'test' };

describe('a lane of one', () => {
  it('lets one after the other in, each at once when the one before has ended', async () => {
    const { h, service } = inLane();
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      ids.push((await h.begin({ account: 'a' })).id);
      h.clock.advanceTo(h.clock.now() + 1);
    }
    await drain(h);
    for (const id of ids) expect(await statusOf(h, id)).toBe('succeeded');
    expect(service).toMatchObject({ most: 1, order: ids });
    expect([...h.lanes.lanes.values()]).toMatchObject([{ holders: [] }]);
    expect((await h.state(ids[0] as string)).execution).not.toHaveProperty('wakeAt');
  });

  it('is another for another key', async () => {
    const { h } = inLane();
    await h.begin({ account: 'a' });
    await h.begin({ account: 'b' });
    expect(h.sent).toHaveLength(2);
    await h.begin({ account: 'a' });
    expect(h.sent).toHaveLength(2);
    expect((await h.state('e-3')).steps['lane']).toMatchObject({ status: 'waiting' });
  });

  it('prefers a higher priority, which time makes good for', async () => {
    const { h, service } = inLane();
    const begin = (priority?: number) =>
      start(h.scheduler, {
        workflow: 'flow',
        input: { account: 'a' },
        ...(priority === undefined ? {} : { priority }),
      });
    await begin();
    const first = await begin();
    h.clock.advanceTo(h.clock.now() + 7 * 60_000);
    const soon = await begin(1);
    const urgent = await begin(2);
    await drain(h);
    expect(service.order.slice(1)).toEqual([urgent.id, first.id, soon.id]);
    await expect(begin(10)).rejects.toMatchObject({ code: 'bad-priority' });
  });

  it('reads the lane again as soon with a high priority as without one', async () => {
    const { h } = inLane();
    await h.begin({ account: 'a' });
    const urgent = await start(h.scheduler, { workflow: 'flow', input: { account: 'a' }, priority: 9 });
    expect((await h.state(urgent.id)).execution.lane?.checkAt).toBe(h.clock.now() + 5_000);
  });

  it('refuses an invalid key', async () => {
    const { h } = inLane();
    for (const account of ['', null, 1.5, 'x'.repeat(1_001), {}])
      await expect(h.begin({ account } as never)).rejects.toMatchObject({ code: 'bad-concurrency' });
    expect((await h.begin({ account: 7 })).lane).toEqual((await h.begin({ account: '7' })).lane);
  });

  it('hands the place on after a failure and a cancel in the queue, past the dead and the paused', async () => {
    const { h, service } = inLane();
    const ids: string[] = [];
    for (const fails of [true, false, false, false]) {
      ids.push((await h.begin({ account: 'a', fails })).id);
      h.clock.advanceTo(h.clock.now() + 1);
    }
    const [bad, canceled, paused, last] = ids as [string, string, string, string];
    await cancel(h.scheduler, canceled, asked);
    await pause(h.scheduler, paused, asked);
    await drain(h);
    expect(await statusOf(h, bad)).toBe('failed');
    expect(await statusOf(h, canceled)).toBe('canceled');
    expect(await statusOf(h, last)).toBe('succeeded');
    expect(await statusOf(h, paused)).toBe('paused');
    await resume(h.scheduler, paused, { commandId: 'c2', reason: 'test' });
    await drain(h);
    expect(await statusOf(h, paused)).toBe('succeeded');
    expect(service.order).toEqual([last, paused]);
  });

  it('fails who got no place in its time, with a code of its own', async () => {
    const { h } = inLane();
    await h.begin({ account: 'a' });
    const { id } = await h.begin({ account: 'a' });
    expect((await h.state(id)).execution.deadlineAt - h.clock.now()).toBe(70 * 60_000);
    h.sent.splice(0);
    h.clock.advanceTo(h.clock.now() + 3_600_001);
    h.implementations['worker'] = { execute: () => new Promise(() => undefined) };
    const state = await h.run(id, { deliverable: () => false });
    expect(state.execution.cause?.failure.code).toBe('concurrency-timeout');
  });

  it('counts its time from its place on', async () => {
    const { h } = inLane();
    await h.begin({ account: 'a' });
    const { id } = await h.begin({ account: 'a' });
    h.clock.advanceTo(h.clock.now() + 60_000);
    await drain(h);
    const { execution } = await h.state(id);
    expect(execution.deadlineAt).toBe(h.clock.now() + 600_000);
  });

  it('is at risk by its own time, however long it has waited for its place', async () => {
    const { h } = inLane();
    await h.begin({ account: 'a' });
    const { id } = await h.begin({ account: 'a' });
    h.clock.advanceTo(h.clock.now() + 59 * 60_000);
    const [first] = h.sent.splice(0);
    await h.deliver(first as Send);
    await drain(h);
    const { execution } = await h.state(id);
    expect(riskAt(execution)).toBe(h.clock.now() + 450_000);
    expect(h.notes).not.toContainEqual(expect.objectContaining({ what: 'at-risk' }));
  });

  it('keeps the limit that is deployed when one of an earlier version is resumed', async () => {
    const { h } = inLane(2);
    for (let at = 0; at < 3; at += 1) await h.begin({ account: 'a' });
    await pause(h.scheduler, 'e-3', asked);
    await settle();
    const later = createScheduler(h, [flowOf(1)], { hash: h.lanes.hash, newId: () => 'later' });
    await start(later, { workflow: 'flow', input: { account: 'a' } });
    expect([...h.lanes.lanes.values()]).toMatchObject([{ atMost: 1 }]);
    h.clock.advanceTo(h.clock.now() + 1);
    await resume(h.scheduler, 'e-3', { commandId: 'c2', reason: 'test' });
    await settle();
    expect([...h.lanes.lanes.values()]).toMatchObject([{ atMost: 1 }]);
  });

  it.each(['child', 'grandchild'])(
    'takes the limit of the latest deployment as the lane of a %s',
    async (which) => {
      const above = (atMost: number): Workflow => {
        const own = { undo: 'none', within: '70m' } as const;
        const middle = workflow('middle', { input, within: '80m' }, (w) => {
          w.child('below', flowOf(atMost), { account: w.input.account }, own);
        });
        const inner = which === 'child' ? flowOf(atMost) : middle;
        return workflow('top', { input, within: '3h' }, (w) => {
          const first = w.step('first', worker, {}, once);
          w.child(
            'next',
            inner as Workflow,
            { account: w.input.account },
            { ...own, within: '90m', after: [first] },
          );
        });
      };
      const h = harness(above(3), { worker: { execute: async () => ({}), undo: async () => undefined } });
      const { id } = await start(h.scheduler, { workflow: 'top', input: { account: 'a' } });
      h.clock.advanceTo(h.clock.now() + 60_000);
      const sent = h.sent.splice(0);
      const old = await start(h.scheduler, { workflow: 'top', input: { account: 'a' } });
      await drain(h);
      const limits = () => [...h.lanes.lanes.values()].map(({ atMost }) => atMost);
      expect([await statusOf(h, old.id), limits()]).toEqual(['succeeded', [3]]);
      h.clock.advanceTo(h.clock.now() + 60_000);
      const later = createScheduler(h, [above(1)], { hash: h.lanes.hash, newId: () => 'later' });
      await start(later, { workflow: 'top', input: { account: 'a' } });
      await drain(h);
      expect([await statusOf(h, 'later'), limits()]).toEqual(['succeeded', [1]]);
      // An execution that was started before goes on afterwards.
      h.sent.push(...sent);
      await drain(h);
      expect([await statusOf(h, id), limits()]).toEqual(['succeeded', [1]]);
    },
  );

  it('waits again when it is tried again', async () => {
    const { h, service } = inLane();
    const bad = (await h.begin({ account: 'a', fails: true })).id;
    await drain(h);
    const other = (await h.begin({ account: 'a' })).id;
    h.implementations['worker'] = { execute: async () => ({}), undo: async () => undefined };
    await tryAgain(h.scheduler, bad, asked);
    await settle();
    expect((await h.state(bad)).execution).toMatchObject({ epoch: 2, status: 'running' });
    expect(h.sent.every(({ message }) => message.execution === other)).toBe(true);
    await drain(h);
    expect(await statusOf(h, bad)).toBe('succeeded');
    expect(service.most).toBeLessThanOrEqual(1);
  });
});

describe('who leaves', () => {
  /** Ports with a hook `around` that replaces the next write of the lane's record. */
  function leaving(atMost: number) {
    const next: { around?: (write: () => Promise<unknown>) => Promise<void> } = {};
    const { h } = inLane(atMost, (world) => {
      const { lanes } = world;
      const writeLane: typeof lanes.writeLane = async (record) => {
        const { around } = next;
        delete next.around;
        let written: 'written' | 'conflict' = 'conflict';
        const write = async () => (written = (await lanes.writeLane(record)) as typeof written);
        await (around === undefined ? write() : around(write));
        return written;
      };
      return { ...world, lanes: { ...lanes, writeLane } };
    });
    const isIn = async (id: string) => (await h.state(id)).execution.lane?.admitted === 1;
    return { h, next, isIn };
  }

  it.each(['leave', 'check'] as const)(
    'and dies once it has placed another has that carried on by who comes next: to %s (N6)',
    async (how) => {
      const { h, next, isIn } = leaving(1);
      const first = await h.begin({ account: 'a' });
      const { id } = await h.begin({ account: 'a' });
      const third = await h.begin({ account: 'a' });
      next.around = async (write) => {
        await write();
        await new Promise(() => undefined);
      };
      void drain(h);
      for (let turns = 0; turns < 5; turns += 1) await settle();
      expect([next.around, await isIn(id)]).toEqual([undefined, false]);
      const { lane, ...one } = how === 'leave' ? first : third;
      const own = { id: one.id, life: one.life, epoch: one.epoch, place: one.startedAt };
      const work = { step: 'lane', lane: lane?.key ?? '', atMost: 1, own, isPaused: false } as const;
      await atLane(h, { ...work, how, wasIn: how === 'leave', isOver: how === 'leave' }, []);
      expect(await isIn(id)).toBe(true);
    },
  );

  it('hands on the place that it had before a retry, and none that it got after one (N1, N4)', async () => {
    const { h } = leaving(6);
    for (let at = 0; at < 6; at += 1) await h.begin({ account: 'a' });
    const [lane] = h.lanes.lanes.values();
    const [held] = lane?.holders ?? [];
    const holders = async (epoch: number, isOver: boolean) => {
      const own = { ...(held as LaneEntry), epoch, place: 1 };
      const work = { step: 'lane', lane: lane?.lane ?? '', atMost: 6, own, isPaused: false } as const;
      await atLane(h, { ...work, how: 'leave', wasIn: false, isOver }, []);
      return h.lanes.lanes.get(work.lane)?.holders.map(({ id }) => id);
    };
    const all = lane?.holders.map(({ id }) => id);
    // Until it is over, its earlier work may still act.
    expect(await holders(2, false)).toEqual(all);
    // A process that knows nothing of the retry leaves for the time before it (seed 52837).
    expect(await holders(0, true)).toEqual(all);
    expect(await holders(2, true)).toEqual(all?.slice(1));
  });

  it('sees one that has queued before it could see the room (N5)', async () => {
    // An execution that only queues asks fewer holders than these whether they have ended.
    const { h, next, isIn } = leaving(6);
    for (let at = 0; at < 6; at += 1) await h.begin({ account: 'a' });
    const [first] = h.sent.splice(0);
    let id = '';
    next.around = async (write) => {
      ({ id } = await h.begin({ account: 'a' }));
      await write();
    };
    h.sent.push(first as Send);
    await drain(h);
    expect([id, await isIn(id)]).toEqual(['e-7', true]);
  });
});

describe('a lane of three', () => {
  it('has three in it at most', async () => {
    const { h, service } = inLane(3);
    const ids: string[] = [];
    for (let at = 0; at < 9; at += 1) ids.push((await h.begin({ account: 'a' })).id);
    expect(h.sent).toHaveLength(3);
    await drain(h);
    for (const id of ids) expect(await statusOf(h, id)).toBe('succeeded');
    expect(service.most).toBe(3);
  });

  it('has the first in the queue read the lane again, behind those that have their places', async () => {
    const { h } = inLane(3);
    const inside = [
      await h.begin({ account: 'a' }),
      await h.begin({ account: 'a' }),
      await h.begin({ account: 'a' }),
    ];
    // The process that placed them died before it took them out of the queue.
    for (const { id, life, epoch, lane, startedAt: place } of inside)
      await h.lanes.queue(lane?.key ?? '', { id, life, epoch, place });
    h.clock.advanceTo(h.clock.now() + 1);
    const { id, lane } = await h.begin({ account: 'a' });
    expect((await h.state(id)).execution.lane?.checkAt).toBe(h.clock.now() + 5_000);
    expect(h.lanes.inQueue(lane?.key ?? '').map((one) => one.id)).toEqual([id]);
  });
});
