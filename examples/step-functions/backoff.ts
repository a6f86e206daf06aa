/** retry-with-exponential-backoff-sam: a function that answers with an error now and then. */

import { eq, invoke, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

export const respond = invoke('generate-random-responses', {
  input: z.object({}),
  output: z.object({ statusCode: z.int() }),
  effect: 'none',
  execute: {
    function: { env: 'RESPONDER' },
    outcomes: ({ body }) => [{ when: eq(body('errorType'), 'InternalServerError'), is: 'transient' }],
  },
});

export const backoff = workflow('backoff', { input: z.object({}), within: '1h' }, (w) => {
  return w.step('respond', respond, {}, { recovery: [retry(6, { delay: '2s', maxDelay: '64s' })] }).output;
});
