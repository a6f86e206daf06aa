/** Rate limit of a service: at most ten calls a second, across all executions. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Address = z.object({ address: z.string() });

export const locate = agent('locate', {
  input: Address,
  output: z.object({ zone: z.string() }),
  effect: 'none',
});

export const zoning = workflow('zoning', { input: Address, within: '1h' }, (w) => {
  return w.step('locate', locate, { address: w.input.address }).output;
});

/**
 * Pass it to the stack: `new Steadfast(this, 'Zones', { workflows, agentSettings })`; for `serve`, use
 * `--rate`.
 */
export const agentSettings = { locate: { rate: '10/s' } } as const;
