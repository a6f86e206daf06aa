/** The audit's reads are eventually consistent, so a page may be older than the latest writes. */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { MIN_RETENTION_MS } from '../../lib/core/records/retention.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { memoryReceipts } from '../../lib/memory/side-records.ts';
import { audit, type AuditPorts } from '../../lib/supervisor/audit.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

const single = workflow('single', { input: anyObject, within: '1h' }, (w) => {
  w.step('it', anAgent('worker'), {}, { recovery: [retry(1)] });
});

/** @param before makes the older execution that a page contains */
function open(before: (execution: Execution) => Execution) {
  const h = harness(single, { worker: { execute: async () => ({}), undo: async () => undefined } });
  const real = h.store.inventory(4);
  const inventory: AuditPorts['inventory'] = {
    ...real,
    page: async (...of) => {
      const { items, ...rest } = await real.page(...of);
      const shown = items.map((found) =>
        found.kind === 'execution'
          ? { ...found, execution: before(found.execution), wake: 'none' as const }
          : found,
      );
      return { items: shown, ...rest };
    },
  };
  const ports: AuditPorts = { ...h, inventory, receipts: memoryReceipts() };
  const run = async () =>
    (await audit(ports, { untilAt: Number.MAX_SAFE_INTEGER, maxPages: 100 })).receipt.pass;
  return { h, run };
}

it('on the word of a page nothing is removed: its execution is read again, strongly (S6, V5)', async () => {
  const { h, run } = open((execution) => ({ ...execution, life: 'before' }));
  const { id } = await h.begin();
  await h.run(id);
  h.clock.advanceTo(h.clock.now() + 2 * MIN_RETENTION_MS);
  expect(await run()).toMatchObject({ scanned: 2, removed: 0, failed: 0 });
  expect((await h.state(id)).steps['it']).toMatchObject({ status: 'done' });
});

it('nothing is healed that was written since: a repair is on the version that was read (S15)', async () => {
  const { h, run } = open((execution) => ({ ...execution, version: execution.version - 1 }));
  const { id } = await h.begin();
  const { execution } = await h.state(id);
  expect(await run()).toMatchObject({ scanned: 1, healed: 0, failed: 0 });
  expect((await h.state(id)).execution).toEqual(execution);
});
