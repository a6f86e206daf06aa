/** either-or-parallel-pattern: the first of two processes to end decides, within at most 15 seconds. */

import { agent, and, failed, not, or, orElse, succeeded, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Asked = z.object({ processId: z.string() });
const ask = agent('process-status', {
  input: Asked,
  output: z.object({ isOver: z.boolean() }),
  effect: 'none',
  timeout: '5s',
});
const Two = z.object({ first: z.string(), second: z.string() });
export const round = workflow('statuses', { input: Two, within: '1h' }, (w) => {
  const first = w.step('first', ask, { processId: w.input.first });
  const second = w.step('second', ask, { processId: w.input.second });
  return { first: first.output.isOver, second: second.output.isOver };
});
const next = (name: string) =>
  agent(name, { input: z.object({}), output: z.object({}), effect: 'idempotent', undo: 'none' });

export const either = workflow('either', { input: Two, within: '1h' }, (w) => {
  const over = w.repeat('ask', round, w.input, {
    until: ({ first, second }) => or(first, second),
    every: '5s',
    maxRounds: 10,
    within: '15s',
    mayFail: true,
    undo: 'none',
  });
  const isFirst = orElse(over.output.last.first, false);
  w.step('after-first', next('after-first'), {}, { when: and(succeeded(over), isFirst) });
  w.step('after-second', next('after-second'), {}, { when: and(succeeded(over), not(isFirst)) });
  w.step('too-late', next('too-late'), {}, { when: failed(over) });
});
