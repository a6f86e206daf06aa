/**
 * A step is not undone while an attempt of a dependent step may still be acting, even one in a child
 * execution (S10).
 */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { anAgent, anyObject, type Harness, harness, PROCESS_MS } from './harness.ts';
import { never } from './process.ts';

const input = anyObject as never;
const charge = anAgent('charge');
const SETTLE_MS = 300_000;
const ship = anAgent('ship', { undo: 'none', timeout: '10m', lateEffectWithin: '5m' });
const once = { recovery: [retry(0)] };
const times = { input, within: '1h' } as const;
const aGroup = (agent: typeof charge): never =>
  workflow('group', times, (w) => void w.step('it', agent, {}, once)) as never;

const flows: Readonly<Record<string, Workflow>> = {
  'is a step': workflow('steps', times, (w) => {
    w.step('ship', ship, {}, { after: [w.step('charge', charge, {}, once)], ...once });
  }) as Workflow,
  'belongs to a child': workflow('inside', { input, within: '3h' }, (w) => {
    w.child('ship', aGroup(ship), {} as never, { after: [w.step('charge', charge, {}, once)] });
  }) as Workflow,
  'comes after a child': workflow('after', { input, within: '3h' }, (w) => {
    w.step('ship', ship, {}, { after: [w.child('charge', aGroup(charge), {} as never)], ...once });
  }) as Workflow,
};

describe('what was done before an attempt whose process stands still', () => {
  it.each(Object.keys(flows))('is undone once that can act no more, where the attempt %s', async (which) => {
    let [shippedAt, undoneAt] = [0, 0];
    const h: Harness = harness(flows[which] as Workflow, {
      charge: { execute: async () => ({}), undo: async () => void (undoneAt = h.clock.now()) },
      ship: { execute: () => ((shippedAt = h.clock.now()), never) },
    });
    const { id } = await h.begin();
    await h.run(id, { until: () => shippedAt > 0 });
    await cancel(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('canceled');
    expect(undoneAt - shippedAt).toBeGreaterThanOrEqual(PROCESS_MS + SETTLE_MS);
    expect(undoneAt - shippedAt).toBeLessThan(PROCESS_MS + SETTLE_MS + 60_000);
  });
});
