/** What is refused of a point of no return and of a pause, when a workflow is built. */

import { checkPlan } from '../../../lib/core/plan/check.ts';
import { retry, useAgent, workflow } from '../../../lib/core/plan/workflow.ts';
import { declareAgent } from '../../../lib/core/plan/agent.ts';
import { agent, any, base, planStep, planWith, refusalOf } from '../refusals.ts';

const point = { pointOfNoReturn: true } as const;

it('a point of no return has no undo, unless it is said to have one', () => {
  const { plan } = workflow('flow', { input: any, within: '1h' }, (w) => {
    const sure = declareAgent('sure', { ...base, probe: 'required' });
    w.step('it', sure, {}, { ...point, ladder: [retry(1), useAgent(sure)] });
  });
  expect(plan.steps).toMatchObject([{ ...point, undo: 'none', ladder: [{}, { undo: 'none' }] }]);
});

it('one that says how it is undone is refused', () => {
  const built = (): unknown =>
    workflow('flow', { input: any, within: '1h' }, (w) => {
      w.step('it', agent, {}, { ...point, undo: retry(1) });
    });
  expect(refusalOf(built).details).toMatchObject({ step: 'it', reason: 'undo-after-no-return' });
});

it('a step that no agent performs is none', () => {
  const wait = { name: 'it', kind: 'wait', after: [], forMs: 1_000, ...point } as const;
  const { details } = refusalOf(() => checkPlan(planWith({}, { steps: [wait, { ...planStep, name: 'b' }] })));
  expect(details).toMatchObject({ step: 'it', reason: 'bad-point-of-no-return' });
});

it('a pause has an end', () => {
  expect(refusalOf(() => checkPlan(planWith({}, { pauseWithinMs: Number.NaN }))).details).toMatchObject({
    reason: 'unbounded',
  });
  const { plan } = workflow('flow', { input: any, within: '1h', pauseWithin: '2h' }, (w) => {
    w.step('it', agent, {});
  });
  expect(plan.pauseWithinMs).toBe(7_200_000);
});
