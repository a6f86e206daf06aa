/** A workflow of one step whose agent declares `isolate`. */

import * as z from 'zod/mini';
import { agent, workflow } from 'steadfast';

export const compute = agent('compute', {
  input: z.object({ ms: z.number() }),
  output: z.object({ pid: z.number() }),
  effect: 'none',
  lease: '5s',
  isolate: true,
});

export const alone = workflow('alone', { input: z.object({ ms: z.number() }), within: '1h' }, (w) => {
  return w.step('compute', compute, { ms: w.input.ms }).output;
});
