/** The executions of a step that failed, once the step's own execution is tried again (S6, S10). */

import type { Children } from '../../../lib/core/records/children.ts';
import { restartProblem, takesNewChildren } from '../../../lib/core/waiting/child-retry.ts';
import { childrenOf, end } from '../family.ts';

const gone = end('canceled');

const open = 'some of its executions have not said how they ended';
const restartedAfter = 'its executions have succeeded, and would answer the same';
it.each<[string, Children, boolean, string | undefined]>([
  ['were all canceled or undone', childrenOf(2, { 0: gone, 1: end('compensated') }), true, undefined],
  ['never were any', childrenOf(0), true, undefined],
  ['have not all ended', childrenOf(2, { 0: gone }), false, open],
  ['have all succeeded', childrenOf(1, { 0: end('succeeded') }), false, restartedAfter],
  [
    'have succeeded in leaving nothing',
    childrenOf(1, { 0: end('succeeded', 1, { clean: true }) }),
    false,
    restartedAfter,
  ],
  ['failed', childrenOf(1, { 0: end('failed', 1, { clean: true }) }), false, undefined],
  ['failed in part', childrenOf(2, { 0: end('succeeded'), 1: end('failed') }), false, undefined],
  [
    'were stopped beside others',
    childrenOf(3, { 0: end('failed'), 1: gone, 2: end('succeeded') }),
    false,
    'of its executions some were stopped (canceled)',
  ],
  [
    'an operator canceled as they were',
    childrenOf(1, { 0: end('failed', 1, { canceled: true }) }),
    false,
    'an operator canceled one of its executions, which ended as it was',
  ],
  [
    'were stopped and left something',
    childrenOf(1, { 0: end('compensated', 1, { clean: false }) }),
    false,
    'of its executions some were stopped (compensated)',
  ],
])('executions that %s', (_, children, restarted, problem) => {
  expect(takesNewChildren(children)).toBe(restarted);
  expect(restartProblem(children)).toBe(problem);
});
