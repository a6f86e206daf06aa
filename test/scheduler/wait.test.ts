/**
 * How the API waits on a caller's behalf for an execution to end: how often it reads, and how many calls may
 * wait at once.
 */

import { EVENTS } from '../../lib/aws/names.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports, Waits } from '../../lib/core/ports.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { show } from '../../lib/scheduler/start.ts';
import { showAtEnd, waitsNow } from '../../lib/scheduler/wait.ts';
import { memoryWaits } from '../../lib/memory/side-records.ts';
import { listenersAsBus } from '../../serve/announcer.ts';
import { AwaitedEnds } from '../../serve/awaited-ends.ts';
import { anAgent, anyObject, harness, type Harness, settle } from '../engine/harness.ts';
import { withStore } from '../engine/process.ts';

const flow = workflow('flow', { input: anyObject, within: '1h' }, (w) => {
  w.step('a', anAgent('worker'), {});
}) as Workflow;
const fine = { worker: { execute: async () => ({}), undo: async () => undefined } };
const open = (ports: Partial<Ports> = {}): Harness =>
  harness(flow, fine, 1, (world) => ({ ...world, ...ports }));

/** Wraps the record of waits and lists each read and write of it. */
function counted(waits: Waits = memoryWaits()): { waits: Waits; calls: string[] } {
  const calls: string[] = [];
  const read: Waits['read'] = () => (calls.push('read'), waits.read());
  const write: Waits['write'] = (record) => (calls.push('write'), waits.write(record));
  return { waits: { ...waits, read, write }, calls };
}

/** Advances the test's clock until the promise settles. @returns the simulated ms that passed */
async function passed(h: Harness, answered: Promise<unknown>): Promise<number> {
  const from = h.clock.now();
  const over = { is: false };
  void answered.finally(() => (over.is = true));
  await settle();
  while (!over.is) {
    const at = h.clock.nextWakeAt();
    if (at !== undefined) h.clock.advanceTo(at);
    await settle();
  }
  return h.clock.now() - from;
}

it('shows the end as soon as it comes, and refuses what does not exist', async () => {
  const h = open();
  const { id } = await h.begin();
  expect((await show(h.scheduler, id)).state.execution.status).toBe('running');
  const waited = showAtEnd(h.scheduler, id, 20_000);
  await h.run(id, { supervised: false });
  h.clock.advanceTo(h.clock.now() + 1_000);
  expect((await waited).state.execution.status).toBe('succeeded');
  for (const one of ['nobody', 'No#body'])
    await expect(showAtEnd(h.scheduler, one, 1_000)).rejects.toMatchObject({ code: 'unknown-execution' });
});

it('reads at once when the end is announced in its own process, and leaves nothing behind', async () => {
  const looks: number[] = [];
  const ends = new AwaitedEnds();
  const h = harness(flow, fine, 1, (world) => ({
    ...withStore(world, () => ({
      readExecution: async (id) => {
        looks.push(world.clock.now());
        return world.store.readExecution(id);
      },
    })),
    ends,
    announcer: listenersAsBus(new Set([ends.listener])),
  }));
  const { id } = await h.begin();
  const waited = showAtEnd(h.scheduler, id, 20_000);
  await settle();
  await h.run(id, { supervised: false });
  expect((await waited).state.execution.status).toBe('succeeded');
  expect(looks).toEqual([h.clock.now()]);
  expect(ends.size).toBe(0);
});

it('goes on reading when an announcement was of nothing that it waits for', async () => {
  const ends = new AwaitedEnds();
  const h = open({ ends });
  const { id } = await h.begin();
  const waited = showAtEnd(h.scheduler, id, 5_000);
  await settle();
  const end = { source: '', detailType: EVENTS.end.detailType, at: 0 };
  await ends.listener({ ...end, detail: { executionId: id } });
  await ends.listener({ ...end, detail: { executionId: 'another' } });
  expect(await passed(h, waited)).toBe(5_000);
  expect((await waited).state.execution.status).toBe('running');
  expect(ends.size).toBe(0);
});

it('reads often at first, then ever more seldom, until its time is over', async () => {
  const looks: number[] = [];
  const h = harness(flow, fine, 1, (world) =>
    withStore(world, () => ({
      readExecution: async (id) => {
        looks.push(world.clock.now() - 1_700_000_000_000);
        return world.store.readExecution(id);
      },
    })),
  );
  const { id } = await h.begin();
  looks.length = 0;
  const waited = showAtEnd(h.scheduler, id, 5_000);
  expect(await passed(h, waited)).toBe(5_000);
  expect((await waited).state.execution.status).toBe('running');
  expect(looks).toEqual([15, 45, 105, 225, 465, 945, 1_905, 2_905, 3_905, 4_905, 5_000]);
});

describe('of forty that wait at the same time', () => {
  it('five wait, the others are answered at once, and no other call is held up', async () => {
    const h = open({ waits: memoryWaits() });
    const { id } = await h.begin();
    const at: number[] = [];
    const all = Array.from({ length: 40 }, async () => {
      const { state } = await showAtEnd(h.scheduler, id, 20_000);
      at.push(h.clock.now() - 1_700_000_000_000);
      return state.execution.status;
    });
    for (let n = 0; n < 40; n += 1) await settle();
    expect(at).toEqual(Array.from({ length: 35 }, () => 0));
    await passed(h, Promise.all(all));
    expect(at.slice(35)).toEqual(Array.from({ length: 5 }, () => 20_000));
  });

  it('an operator finds how many, since when, and how many more there were, until a minute after', async () => {
    const h = open({ waits: memoryWaits() });
    const { id } = await h.begin();
    expect(await waitsNow(h.scheduler)).toBeUndefined();
    const since = h.clock.now();
    const all = Array.from({ length: 40 }, () => showAtEnd(h.scheduler, id, 20_000));
    for (let n = 0; n < 40; n += 1) await settle();
    const shown = await waitsNow(h.scheduler);
    expect(shown).toEqual({ count: 5, since, refused: { calls: expect.any(Number), since, at: since } });
    expect(shown?.refused?.calls).toBeGreaterThanOrEqual(28);
    h.clock.advanceTo(since + 10_000);
    for (let n = 0; n < 9; n += 1) await showAtEnd(h.scheduler, id, 20_000);
    expect(await waitsNow(h.scheduler)).toMatchObject({
      count: 5,
      since,
      refused: { since, at: since + 10_000 },
    });
    await passed(h, Promise.all(all));
    expect(await waitsNow(h.scheduler)).toMatchObject({ count: 0, refused: { since } });
    h.clock.advanceTo(since + 70_000);
    expect(await waitsNow(h.scheduler)).toBeUndefined();
  });

  it('all wait where one process is all there is, and are counted', async () => {
    const h = open({ waitsHere: new Map() });
    const { id } = await h.begin();
    const since = h.clock.now();
    const all = Array.from({ length: 40 }, () => showAtEnd(h.scheduler, id, 20_000));
    await settle();
    expect(await waitsNow(h.scheduler)).toEqual({ count: 40, since });
    await passed(h, Promise.all(all));
    expect(await waitsNow(h.scheduler)).toBeUndefined();
  });

  it('those whose execution ends leave room for the next', async () => {
    const h = open({ waits: { ...memoryWaits(), most: 1 } });
    const { id } = await h.begin();
    const first = showAtEnd(h.scheduler, id, 20_000);
    await settle();
    expect((await showAtEnd(h.scheduler, id, 20_000)).state.execution.status).toBe('running');
    await cancel(h.scheduler, id, {});
    await passed(h, first);
    const other = await h.begin();
    expect(await passed(h, showAtEnd(h.scheduler, other.id, 7_000))).toBe(7_000);
  });
});

it('one whose process died is over by its own time', async () => {
  const waits = { ...memoryWaits(), most: 1 };
  const h = open({ waits });
  const { id } = await h.begin();
  await waits.write({
    version: 1,
    writeId: 'dead',
    waits: [{ id: 'dead', untilAt: h.clock.now() + 9_000 }],
  });
  expect(await passed(h, showAtEnd(h.scheduler, id, 20_000))).toBe(0);
  h.clock.advanceTo(h.clock.now() + 9_000);
  expect(await passed(h, showAtEnd(h.scheduler, id, 20_000))).toBe(20_000);
});

it('costs a read and two writes, and none where the execution has ended or may not be waited for', async () => {
  const { waits, calls } = counted();
  const h = open({ waits });
  const { id } = await h.begin();
  await passed(h, showAtEnd(h.scheduler, id, 1_000));
  expect(calls.splice(0)).toEqual(['read', 'write', 'write']);
  await h.run(id, { supervised: false });
  await showAtEnd(h.scheduler, id, 1_000);
  await show(h.scheduler, id);
  expect(calls).toEqual([]);
  const none = counted({ ...memoryWaits(), most: 0 });
  const other = open({ waits: none.waits });
  const begun = await other.begin();
  expect(await passed(other, showAtEnd(other.scheduler, begun.id, 1_000))).toBe(0);
  expect(none.calls).toEqual(['read']);
});

it.each(['read', 'write'] as const)('nobody waits where the record cannot be: %s', async (what) => {
  const away = async (): Promise<never> => {
    throw new Error('throttled');
  };
  const h = open({ waits: { ...memoryWaits(), [what]: away } });
  const { id } = await h.begin();
  expect(await passed(h, showAtEnd(h.scheduler, id, 20_000))).toBe(0);
});
