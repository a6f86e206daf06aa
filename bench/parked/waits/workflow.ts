/** One step that waits for somebody, as parked executions do. */

import * as z from 'zod/mini';
import { agent, workflow } from 'steadfast';

const text = z.object({ text: z.string() });

// Evaluated again soon: after that, the execution waits only for its callback.
export const note = agent('note', { input: text, output: text, effect: 'none', claimWithin: '1s' });

export const waits = workflow('waits', { input: text, within: '90d' }, (w) => {
  const noted = w.step('noted', note, { text: w.input.text });
  const answer = w.callback('answered', { output: text, within: '60d', after: [noted] });
  return answer.output;
});
