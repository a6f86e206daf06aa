/** One at a time: executions for the same account wait for each other, in the order of their starts. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Posting = z.object({ account: z.string(), amount: z.number() });

export const post = agent('post', { input: Posting, output: z.null(), effect: 'idempotent' });

export const posting = workflow(
  'posting',
  {
    input: Posting,
    within: '10m',
    concurrency: { key: (input) => input.account, limit: 1, waitWithin: '1h' },
  },
  (w) => {
    w.step('post', post, { account: w.input.account, amount: w.input.amount });
  },
);
