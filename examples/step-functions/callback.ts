/** calling-async-api-callback: sends a message with a token, and announces the answer or its absence. */

import { eq, not, orElse, publish, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Request = z.object({ request: z.string() });
const ask = publish('ask-api', {
  input: z.object({ taskToken: z.string(), payload: Request }),
  effect: 'idempotent',
  to: { queue: { env: 'API_QUEUE' } },
});
const tell = publish('tell', {
  input: z.object({ status: z.int(), message: z.string() }),
  effect: 'idempotent',
  to: { topic: { env: 'API_TOPIC' } },
});

export const callback = workflow('callback', { input: Request, within: '1h' }, (w) => {
  const answer = w.callback('answer', {
    output: z.object({ status: z.int() }),
    within: '5m',
    mayFail: true,
  });
  w.step('ask', ask, { taskToken: answer.token, payload: w.input });
  const isGood = eq(orElse(answer.output.status, 500), 200);
  w.step('good', tell, { status: 200, message: 'API Executed Successfully' }, { when: isGood });
  w.step('bad', tell, { status: 500, message: 'API Failed' }, { when: not(isGood) });
});
