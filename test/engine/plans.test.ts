/** Executions of two versions of a workflow in one process: each uses its own plan. */

import { workflow } from '../../lib/author/builder/workflow.ts';
import { planOf } from '../../lib/engine/plans.ts';
import { MemoryStore } from '../../lib/memory/world.ts';
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

it('of all parts of a long list follow from the plan that is read once', async () => {
  const store = new MemoryStore();
  const listed = workflow('listed', { input: anyObject, within: '1h' }, (w) => {
    w.map('each', worker, w.input['items'] as never, (item) => ({ item }));
  }).plan;
  await store.writePlan('p', listed);
  const reads: string[] = [];
  const once = new Proxy(store, {
    get: (of, key: keyof MemoryStore) =>
      key === 'readPlan'
        ? (hash: string) => {
            reads.push(hash);
            return of.readPlan(hash);
          }
        : of[key],
  });
  const cache = new Map();
  for (let round = 0; round < 2; round += 1) {
    for (let part = 0; part < 400; part += 1) {
      const plan = await planOf(once, cache, `p.each.25x0x${part * 25}`);
      expect(plan.steps.at(-1)?.name).toBe(`each[${part * 25 + 24}]`);
    }
  }
  expect(reads).toEqual(['p']);
  expect(cache.size).toBeLessThanOrEqual(201);
});
