/** A deployment's built-in plans, stored as data, equal those that the builder makes. */

import type { Agent } from '../../lib/core/plan/agent.ts';
import type { Ref } from '../../lib/author/references.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { bulkAgent, bulkWorkflow, PAGE_TRIES } from '../../lib/scheduler/bulk-workflow.ts';
import { canaryAgent, canaryWorkflow } from '../../lib/scheduler/canary-workflow.ts';

it('the canary is what an author would declare', () => {
  const { name, input } = canaryWorkflow;
  const again = { recovery: [retry(3)] };
  const { plan } = workflow(name, { input, within: '10m' }, (w) => {
    const out = w.step('out', canaryAgent, {}, again);
    const wait = w.wait('wait', { for: '5s', after: [out] });
    w.step('back', canaryAgent, {}, { ...again, after: [wait] });
  });
  expect(canaryWorkflow.plan).toEqual(plan);
});

it('the workflow of a bulk action is what an author would declare', () => {
  const { name, input } = bulkWorkflow;
  const { plan } = workflow(name, { input, within: '7d' }, (w) => {
    const { bulk, pages } = w.input as Ref<{ bulk: string; pages: readonly number[] }>;
    const obeyed = w.map('pages', bulkAgent as Agent, pages, (page) => ({ bulk, page }), {
      concurrency: 25,
      recovery: [retry(PAGE_TRIES - 1, { delay: '1s', maxDelay: '5m' })],
    });
    return { pages: obeyed.output.total };
  });
  expect(bulkWorkflow.plan).toEqual(plan);
});
