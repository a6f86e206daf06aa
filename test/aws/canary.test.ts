/** The metrics count only the end of a canary execution. */

import { createMeter } from '../../lib/aws/metrics.ts';
import { type Line, linesOf } from './lines.ts';

const noted = (...whats: readonly string[]): Promise<Line[]> =>
  linesOf(() => {
    const meter = createMeter({ deployment: 'd', fields: { role: 'agent', agent: 'steadfast-canary' } });
    for (const what of whats) meter.note({ what, executionId: 'e' }, { workflow: 'steadfast-canary' });
    meter.flush();
  });

test('a canary that succeeds is one end, and no figure of any other execution', async () => {
  const lines = await noted('started', 'step-done', 'succeeded');
  expect(lines).toMatchObject([{ CanaryEnded: 1 }]);
  expect(lines[0]).not.toHaveProperty('Succeeded');
});

test('a canary that ends in any other way has not come', async () => {
  expect(await noted('started', 'failed', 'compensated', 'canceled')).toEqual([]);
});
