/** Orders that a bank declines while it is closed; it declines some of them for ever. */

import { agent, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

export const takeMoney = agent('take-money', {
  input: z.object({ order: z.int() }),
  output: z.object({}),
  effect: 'idempotent',
  undo: 'none',
  lease: '5s',
  timeout: '5s',
});

export const declined = workflow('declined', { input: z.object({ order: z.int() }), within: '1d' }, (w) => {
  w.step('take', takeMoney, w.input, { recovery: [retry(9, { delay: '1s', maxDelay: '2s' })] });
});
