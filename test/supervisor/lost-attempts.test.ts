/** The supervisor that ends a dead attempt's lease counts the death by agent. */

import { workflow } from '../../lib/author/builder/workflow.ts';
import { lostAttempts } from '../../lib/core/records/receipts.ts';
import { receiptBook } from '../../lib/supervisor/receipts.ts';
import { SWEEP_EVERY_MS, tick } from '../../lib/supervisor/sweep.ts';
import { memoryReceipts } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';
import { aProcess, never } from '../engine/process.ts';

const PAST_LEASE_MS = 12_000;

it.each([true, false])('an attempt whose process dies (%s) is in the receipt', async (dies) => {
  const flow = workflow('flow', { input: anyObject, within: '1h' }, (w) => {
    w.step('pay', anAgent('pay'), {});
  });
  const execute = async (): Promise<object> => {
    if (!dies) return {};
    doomed.kill();
    return never;
  };
  const h = harness(flow, { pay: { execute, undo: async () => undefined } });
  const doomed = aProcess(h);
  const { id } = await h.begin();
  await h.run(id, {
    supervised: false,
    portsOf: () => doomed.ports,
    until: ({ steps }) => steps['pay'] !== undefined,
  });
  h.clock.advanceTo(h.clock.now() + PAST_LEASE_MS);
  const receipts = memoryReceipts();
  const { ports } = h.scheduler;
  // Time passes only by sleeping.
  const clock = { now: h.clock.now, sleep: async (ms: number) => h.clock.advanceTo(h.clock.now() + ms) };
  const at = clock.now();
  const leave = receiptBook(receipts, { ...ports, clock });
  await tick({ ...ports, clock }, new Map(), { untilAt: at + 2_000, sweepEveryMs: SWEEP_EVERY_MS, leave });
  const found = lostAttempts((await receipts.read()).shards, clock.now());
  expect([...found]).toEqual(dies ? [['pay', { attempts: 1, since: at, at, executionId: id }]] : []);
});
