/** idempotent-workflow-sam: a second start with the same key gets the first one's result. */

import { invoke, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Payment = z.object({ paymentId: z.string() });
const book = invoke('fail-now-and-then', {
  input: Payment,
  output: z.object({ result: z.string() }),
  effect: 'idempotent',
  execute: ({ input, idempotencyKey: key }) => ({
    function: { env: 'WORK' },
    payload: { paymentId: input.paymentId, key },
  }),
  undo: 'none',
});

/** Started with `idempotencyKey: paymentId`, by a call or by the trigger's mapping. */
export const once = workflow('once', { input: Payment, within: '1d' }, (w) => {
  return w.step('book', book, w.input, { recovery: [retry(6, { delay: '2s' })] }).output;
});
