/** The wake time ignores a child's next try while it must not begin (S12). */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import { anAgent, anyObject, harness } from './harness.ts';
import { never } from './process.ts';

const input = anyObject as never;
const plain = anAgent('plain', { undo: 'none' });
const hand = anAgent('hand', { undo: 'none', timeout: '10m' });
const once = { recovery: [retry(0)] };
const inner = workflow('inner', { input, within: '1h' }, (w) => void w.step('x', plain, {}, once));
const beside = workflow('beside', { input, within: '3h' }, (w) => {
  w.step('hand', hand, {}, { ...once, pointOfNoReturn: true });
  w.step('bad', plain, {}, once);
  w.child('up', inner as never, {} as never, { recovery: [retry(1, { delay: '1s', maxDelay: '1s' })] });
}) as Workflow;

it('lets time pass beside a failure that waits for the outcome of a point of no return', async () => {
  const h = harness(beside, {
    hand: { execute: () => never },
    plain: {
      execute: async () => {
        throw new TransientError('no');
      },
    },
  });
  const { id } = await h.begin();
  await h.run(id, { until: ({ steps }) => steps['up']?.status === 'retrying' });
  for (let n = 0; n < 3; n += 1) {
    const { execution } = await h.state(id);
    h.clock.advanceTo(Math.max(execution.wakeAt ?? 0, h.clock.now() + 2_000));
    await h.sweep();
  }
  const { execution, steps } = await h.state(id);
  expect([steps['up']?.status, steps['bad']?.status]).toEqual(['retrying', 'failed']);
  expect(execution.wakeAt).toBeGreaterThan(h.clock.now());
});
