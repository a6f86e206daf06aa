/** A workflow of one step whose failed attempts have unknown outcomes; the next stage changes its input. */

import * as z from 'zod/mini';
import { agent, withInput, workflow } from 'steadfast';

const Way = z.object({ way: z.enum(['done', 'dies', 'hangs', 'accepts']) });

export const alone = agent('alone', {
  input: Way,
  output: z.object({ pid: z.number() }),
  effect: 'probed',
  undo: 'none',
  lease: '3s',
  timeout: '14m',
  isolate: true,
  acceptedWithin: '1m',
});

export const isolated = workflow(
  'isolated',
  { input: Way, within: '1h' },
  (w) => w.step('work', alone, { way: w.input.way }, { recovery: [withInput({ way: 'done' })] }).output,
);
