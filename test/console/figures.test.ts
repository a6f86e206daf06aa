/** Which attempts the page of a workflow counts as failed. */

import { figuresOf } from '../../console/workflows/figures.ts';
import type { AttemptView, ExecutionView } from '../../lib/api/answers.ts';

const attempt = (outcome: AttemptView['outcome'], code?: string): object => ({
  mode: 'execute',
  outcome,
  claimedAt: 0,
  endedAt: 100,
  ...(code === undefined ? {} : { failure: { code, message: code } }),
});

it('is neither accepted work nor what another agent has interrupted', () => {
  const attempts = [
    attempt('unknown', 'interrupted'),
    attempt('unknown', 'process-died'),
    attempt('failed', 'Error'),
    attempt('accepted'),
    attempt('done'),
  ];
  const views = [{ steps: [{ name: 'pay', attempts }] }] as unknown as ExecutionView[];
  expect(figuresOf('pay', views)).toEqual({ attempts: 5, failed: 2, medianMs: 100, longestMs: 100 });
});
