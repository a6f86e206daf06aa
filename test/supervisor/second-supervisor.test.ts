/**
 * The second supervisor of a tick sweeps once, and stays while it finds overdue work. The first one sweeps
 * all shards (L2); if it dies, a staying second does its work (L5).
 */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { memoryPresences } from '../../lib/memory/side-records.ts';
import { tickStay } from '../../lib/supervisor/stay.ts';
import { type Part, SWEEP_EVERY_MS, tick } from '../../lib/supervisor/sweep.ts';
import { anAgent, anyObject, harness, type Harness, settle } from '../engine/harness.ts';
import { aProcess, withStore } from '../engine/process.ts';

const single = workflow('single', { input: anyObject, within: '1h' }, (w) => {
  w.step('it', anAgent('worker'), {}, { recovery: [retry(1)] });
});
const PARTS: readonly Part[] = [
  { part: 0, of: 2 },
  { part: 1, of: 2 },
];
const MINUTE_MS = 57_000;
/** When a step with a lost message is due. */
const DUE_MS = 10_000;

/** Opens a world in which executions with an odd number are in shard 1. */
function open() {
  const asked = [0, 0];
  const presences = memoryPresences();
  const h = harness(
    single,
    { worker: { execute: async () => ({}), undo: async () => undefined } },
    1,
    (world) =>
      withStore(world, (store) => ({
        shards: 2,
        due: async (shard, untilAt, cursor) => {
          asked[shard] = (asked[shard] ?? 0) + 1;
          const { items } = await store.due(0, untilAt, cursor);
          return { items: items.filter(({ executionId }) => Number(executionId.slice(2)) % 2 === shard) };
        },
      })),
  );
  const begin = (part: Part) => {
    const untilAt = h.clock.now() + MINUTE_MS;
    const process = aProcess(h.scheduler.ports);
    const stay = tickStay(presences, process.ports, untilAt);
    const over = tick(process.ports, new Map(), { untilAt, sweepEveryMs: SWEEP_EVERY_MS, part, stay });
    return { ...process, over };
  };
  return { h, asked, begin };
}

async function move(h: Harness, untilAt: number): Promise<void> {
  await settle();
  for (let at = h.clock.nextWakeAt(); at !== undefined && at <= untilAt; at = h.clock.nextWakeAt()) {
    h.clock.advanceTo(at);
    await settle();
  }
  h.clock.advanceTo(untilAt);
  await settle();
}

/** Starts an execution in each shard, and loses their messages. */
async function twoLost(h: Harness): Promise<void> {
  for (let at = 0; at < 2; at += 1) await h.begin();
  h.sent.splice(0);
}

it('sweeps once if nothing is overdue, and the first one keeps all shards, each asked once a sweep (C3)', async () => {
  const { h, asked, begin } = open();
  await twoLost(h);
  const [first] = PARTS.map(begin);
  const second = begin({ part: 1, of: 2 });
  await move(h, h.clock.now() + 8_000);
  expect(await second.over).toHaveLength(1);
  expect(asked[0]).toBeLessThanOrEqual(6);
  expect(asked[1]).toBeLessThanOrEqual(7);
  first?.kill();
});

it.each([0, 1])(
  'leaves shard %i to the first one, which sees within a sweep what is overdue there (L2)',
  async (odd) => {
    const { h, begin } = open();
    await twoLost(h);
    const startedAt = h.clock.now();
    PARTS.map(begin);
    await move(h, startedAt + DUE_MS + SWEEP_EVERY_MS);
    expect(h.sent.filter(({ message }) => Number(message.execution.slice(2)) % 2 === odd)).toHaveLength(1);
  },
);

it.each([0, 1])(
  'stays while it finds work, and within 5 s does that of part %i when it is dead (L5)',
  async (victim) => {
    const { h, begin } = open();
    await twoLost(h);
    const dueAt = h.clock.now() + DUE_MS;
    h.clock.advanceTo(dueAt);
    // Both find something overdue in their first sweep, and stay.
    const both = PARTS.map(begin);
    await move(h, dueAt + 1_000);
    expect(h.sent.splice(0)).toHaveLength(2);
    const { id } = await h.begin();
    const { id: other } = await h.begin();
    const lost = [id, other].find((one) => Number(one.slice(2)) % 2 === victim);
    h.sent.splice(0);
    both[victim]?.kill();
    let sentAt: number | undefined;
    for (let at = dueAt + 1_000; at < dueAt + MINUTE_MS && sentAt === undefined; at += 500) {
      await move(h, at);
      if (h.sent.some(({ message }) => message.execution === lost)) sentAt = at;
    }
    expect((sentAt ?? Number.POSITIVE_INFINITY) - (dueAt + 1_000 + DUE_MS)).toBeLessThanOrEqual(5_000);
  },
);
