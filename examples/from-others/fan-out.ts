/**
 * Subtasks that are known only at run time, of which some may fail.
 * From Restate, patterns-use-cases/parallelizework.
 */

import { agent, gt, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Task = z.object({ task: z.string() });
const Result = z.object({ result: z.string() });
const split = agent('split', {
  input: Task,
  output: z.object({ subtasks: z.array(z.string()) }),
  effect: 'none',
});
export const perform = agent('perform-subtask', {
  input: z.object({ subtask: z.string() }),
  output: Result,
  effect: 'idempotent',
});
const aggregate = agent('aggregate', {
  input: z.object({ results: z.array(z.nullable(Result)) }),
  output: Result,
  effect: 'idempotent',
});
const tell = agent('tell-failed', {
  input: z.object({ task: z.string(), failed: z.int() }),
  output: z.object({}),
  effect: 'idempotent',
  undo: 'none',
});

export const fanOut = workflow('fan-out', { input: Task, within: '1d' }, (w) => {
  const { subtasks } = w.step('split', split, w.input).output;
  const all = w.map('subtasks', perform, subtasks, (subtask) => ({ subtask }), {
    mayFail: '50%',
    recovery: [retry(2)],
  });
  const { items, failed } = all.output;
  const sum = w.step('aggregate', aggregate, { results: items });
  w.step('tell', tell, { task: w.input.task, failed }, { when: gt(failed, 0), after: [sum] });
  return sum.output;
});
