/** Executions of two versions of a workflow in one process: each goes on with its own plan. */

import { workflow } from '../../lib/core/plan/builder/workflow.ts';
import { planOf } from '../../lib/engine/plans.ts';
import { MemoryStore } from '../../lib/testing/memory.ts';
import { anAgent, anyObject } from './harness.ts';

const worker = anAgent('worker');
const version = (step: string) =>
  workflow('flow', { input: anyObject, within: '1h' }, (w) => {
    w.step(step, worker, {});
  }).plan;

describe('an execution', () => {
  it('keeps the plan it started with, whichever its process has seen first', async () => {
    const store = new MemoryStore();
    await store.writePlan('old', version('before'));
    await store.writePlan('new', version('after'));
    for (const order of [
      ['old', 'new', 'old'],
      ['new', 'old', 'new'],
    ]) {
      const cache = new Map();
      for (const hash of order) {
        const plan = await planOf(store, cache, hash);
        expect(plan.steps[0]?.name).toBe(hash === 'old' ? 'before' : 'after');
      }
    }
  });
});
