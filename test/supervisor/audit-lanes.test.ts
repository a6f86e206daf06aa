/** The audit of lanes' queues removes items that their executions left behind. */

import { MIN_RETENTION_MS } from '../../lib/core/records/retention.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Found } from '../../lib/core/supervision/audit.ts';
import { audit, type AuditPorts } from '../../lib/supervisor/audit.ts';
import { memoryReceipts } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

const worker = anAgent('worker');
const single = workflow('single', { input: anyObject, within: '10d' }, (w) => {
  w.step('it', worker, {}, { recovery: [retry(1)] });
});

test('an item in the queue is removed a day after it came, unless its execution still waits', async () => {
  const h = harness(single, { worker: { execute: async () => ({}), undo: async () => undefined } });
  const ended = await h.begin();
  await h.run(ended.id);
  const { id, life } = await h.begin();
  const place = h.clock.now();
  const queued = (of: string, epoch: number, lifeOf = life): Found => ({
    kind: 'queued',
    executionId: of,
    lane: 'l',
    queued: { id: of, life: lifeOf, epoch, place },
  });
  const items = [queued(id, 1), queued(id, 2), queued('gone', 1), queued(ended.id, 1, ended.life)];
  const removed: string[] = [];
  const inventory: AuditPorts['inventory'] = {
    page: async ({ index }) => ({ items: index === 0 ? items : [] }),
    remove: async (found) => {
      if (found.kind === 'queued') removed.push(`${found.executionId}/${found.queued.epoch}`);
      return 'removed';
    },
  };
  const ports: AuditPorts = { ...h, inventory, receipts: memoryReceipts() };
  const run = () => audit(ports, { untilAt: Number.MAX_SAFE_INTEGER, maxPages: 100 });
  expect((await run()).receipt.pass).toMatchObject({ scanned: 4, healed: 0, removed: 0, failed: 0 });
  h.clock.advanceTo(place + MIN_RETENTION_MS + 1);
  expect((await run()).receipt.pass).toMatchObject({ scanned: 4, healed: 0, removed: 3, failed: 0 });
  expect(removed).toEqual([`${id}/2`, 'gone/1', `${ended.id}/1`]);
});
