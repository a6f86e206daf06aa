/** Fair turns of a supervisor: much due work of one group (`fairBy`) does not delay another group. */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Due, Ports } from '../../lib/core/ports.ts';
import { haveGroups, fairly } from '../../lib/supervisor/due.ts';
import { SWEEP_EVERY_MS, tick } from '../../lib/supervisor/sweep.ts';
import { anAgent, harness, type Harness, settle } from '../engine/harness.ts';
import { withStore } from '../engine/process.ts';

const worker = anAgent('worker');
const PICKUP_MS = 10_000;
const shared = workflow(
  'shared',
  { input: z.object({ of: z.string() }), within: '1h', fairBy: ({ of }) => of },
  (w) => {
    w.step('it', worker, {});
  },
);
const due = (executionId: string, group?: string): Due => ({
  executionId,
  wakeAt: 0,
  ...(group === undefined ? {} : { group }),
});
const names = (items: readonly Due[]): string => items.map(({ executionId }) => executionId).join(' ');

describe('turns', () => {
  it('go round the groups, each earliest first, and those without one share one', () => {
    const items = [due('a1', 'a'), due('a2', 'a'), due('n1'), due('a3', 'a'), due('b1', 'b'), due('n2')];
    expect(names(fairly(items))).toBe('a1 n1 b1 a2 n2 a3');
    expect(haveGroups(items)).toBe(true);
  });

  it('are the order of the index where there is one group, or none', () => {
    expect(names(fairly([due('a2', 'a'), due('a1', 'a')]))).toBe('a2 a1');
    expect(names(fairly([due('n2'), due('n1')]))).toBe('n2 n1');
    expect(haveGroups([due('n1')])).toBe(false);
  });
});

describe('a tick', () => {
  const READ_MS = 20;
  interface Opened {
    readonly h: Harness;
    readonly ports: Ports;
    /** The reads of executions, in order, with their times. */
    readonly reads: { readonly id: string; readonly at: number }[];
  }
  /** Opens a world in which each read of an execution takes time. */
  function opened(fails: (id: string) => boolean = () => false): Opened {
    const reads: { id: string; at: number }[] = [];
    const h = harness(shared, { worker: { execute: async () => ({}), undo: async () => undefined } });
    const ports = withStore(h, (store) => ({
      read: async (id) => {
        reads.push({ id, at: h.clock.now() });
        h.clock.advanceTo(h.clock.now() + READ_MS);
        if (fails(id)) throw new Error('it cannot be read');
        return store.read(id);
      },
    }));
    return { h, ports, reads };
  }
  /** Starts executions whose messages are lost. */
  async function begin(h: Harness, count: number, of: string): Promise<string | undefined> {
    let last: string | undefined;
    for (let at = 0; at < count; at += 1) last = (await h.begin({ of })).id;
    h.sent.splice(0);
    return last;
  }
  async function ticked({ h, ports }: Opened): Promise<void> {
    const untilAt = h.clock.now() + 57_000;
    const running = tick(ports, new Map(), { untilAt, sweepEveryMs: SWEEP_EVERY_MS });
    await settle();
    for (let at = h.clock.nextWakeAt(); at !== undefined; at = h.clock.nextWakeAt()) {
      h.clock.advanceTo(at);
      await settle();
    }
    await running;
  }
  const read = ({ reads }: Opened): number => new Set(reads.map(({ id }) => id)).size;

  it('comes to a group’s one execution at once, though 1,000 of another were due before it', async () => {
    const world = opened();
    const { h, reads } = world;
    await begin(h, 1_000, 'many');
    h.clock.advanceTo(h.clock.now() + 1);
    const one = await begin(h, 1, 'one');
    h.clock.advanceTo(h.clock.now() + PICKUP_MS);
    await ticked(world);
    expect(reads.findIndex(({ id }) => id === one)).toBeLessThan(10);
    expect(read(world)).toBe(1_001);
  });

  it('reads again before it is through a crowd, and executions that became due meanwhile have their turn', async () => {
    const world = opened();
    const { h, reads } = world;
    const beganAt = h.clock.now();
    await begin(h, 1_000, 'many');
    h.clock.advanceTo(beganAt + 3_000);
    const one = await begin(h, 1, 'one');
    const dueAt = h.clock.now() + PICKUP_MS;
    h.clock.advanceTo(beganAt + PICKUP_MS);
    await ticked(world);
    const lateMs = (reads.find(({ id }) => id === one)?.at ?? Number.NaN) - dueAt;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(2_000);
    expect(read(world)).toBe(1_001);
  });

  it('comes again to one that is due again while a crowd of another group still is', async () => {
    const world = opened();
    const { h, reads } = world;
    await begin(h, 2_000, 'many');
    const one = await begin(h, 1, 'one');
    h.clock.advanceTo(h.clock.now() + PICKUP_MS);
    const dueAt = h.clock.now();
    await ticked(world);
    // Sent, and evaluated again a pickup time later.
    const [first = 0, second = 0] = reads.filter(({ id }) => id === one).map(({ at }) => at - dueAt);
    expect(first).toBeLessThan(2_000);
    expect(second).toBeGreaterThanOrEqual(PICKUP_MS);
    expect(second).toBeLessThan(PICKUP_MS + 2_000);
  });

  it('comes to all of a group of which hundreds cannot be read (L4)', async () => {
    const world = opened((id) => Number(id.slice(2)) <= 300);
    await begin(world.h, 600, 'many');
    world.h.clock.advanceTo(world.h.clock.now() + PICKUP_MS);
    await ticked(world);
    expect(read(world)).toBe(600);
  });

  it('comes again in its next sweep to one that could not be read, and is still due', async () => {
    let failures = 1;
    const world = opened((id) => id === 'e-1' && (failures -= 1) >= 0);
    const { h, reads } = world;
    await begin(h, 2, 'many');
    await begin(h, 1, 'one');
    h.clock.advanceTo(h.clock.now() + PICKUP_MS);
    await ticked(world);
    const [first = 0, second = Number.NaN] = reads.filter(({ id }) => id === 'e-1').map(({ at }) => at);
    expect(second - first).toBeLessThan(2 * SWEEP_EVERY_MS);
  });
});
