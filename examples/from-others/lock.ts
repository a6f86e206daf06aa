/** A lock for a part of a process (Temporal, samples-go/mutex). */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Use = z.object({ resourceId: z.string() });
const action = (name: string) =>
  agent(name, { input: Use, output: z.object({}), effect: 'idempotent', undo: 'none' });

/** Runs one at a time for each resource: the next begins when this one can no longer act. */
export const critical = workflow(
  'critical',
  {
    input: Use,
    within: '1h',
    concurrency: { key: ({ resourceId }) => resourceId, limit: 1, waitWithin: '1d' },
  },
  (w) => {
    const entered = w.step('enter', action('enter'), w.input);
    const used = w.wait('use', { for: '10m', after: [entered] });
    w.step('leave', action('leave'), w.input, { after: [used] });
  },
);

export const lock = workflow('lock', { input: Use, within: '2d' }, (w) => {
  const prepared = w.step('prepare', action('prepare'), w.input);
  w.child('critical', critical, w.input, { after: [prepared], undo: 'none' });
});
