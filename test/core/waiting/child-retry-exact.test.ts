/** The executions of a step that failed, once the step's own execution is tried again (S6, S10). */

import type { Children } from '../../../lib/core/records/children.ts';
import {
  againProblem,
  childrenAgain,
  epochOfIds,
  isAnew,
  isToGoOn,
  knownVersion,
} from '../../../lib/core/waiting/child-retry.ts';
import { childrenOf, end } from '../family.ts';
import { recordOf, stateOf } from '../one-step.ts';

const gone = end('canceled');

it('ids carry the epoch in which they were first started', () => {
  const children = childrenOf(1, {}, { epoch: 2 });
  expect(epochOfIds(undefined, { epoch: 4 })).toBe(4);
  expect(epochOfIds(recordOf('a', 'running', { epoch: 3 }), { epoch: 4 })).toBe(3);
  expect(epochOfIds(recordOf('a', 'running', { epoch: 3, children: childrenOf(1) }), { epoch: 4 })).toBe(3);
  expect(epochOfIds(recordOf('a', 'running', { epoch: 3, children }), { epoch: 4 })).toBe(2);
});

const open = 'some of its executions have not said how they ended';
const again = 'its executions have succeeded, and would answer the same';
it.each<[string, Children, boolean, string | undefined]>([
  ['were all canceled or undone', childrenOf(2, { 0: gone, 1: end('compensated') }), true, undefined],
  ['never were any', childrenOf(0), true, undefined],
  ['have not all ended', childrenOf(2, { 0: gone }), false, open],
  ['have all succeeded', childrenOf(1, { 0: end('succeeded') }), false, again],
  [
    'have succeeded in leaving nothing',
    childrenOf(1, { 0: end('succeeded', 1, { clean: true }) }),
    false,
    again,
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
])('executions that %s', (_, children, anew, problem) => {
  expect(isAnew(children)).toBe(anew);
  expect(againProblem(children)).toBe(problem);
});

it('those that failed are to be started, and are heard of only by a later end', () => {
  const ended = { 0: end('succeeded', 4), 2: end('failed', 7), 3: end('failed', 8) };
  const record = recordOf('a', 'failed', { epoch: 5 });
  expect(childrenAgain(record, childrenOf(4, ended))).toEqual({
    ...childrenOf(4, { 0: ended[0] }),
    epoch: 5,
    started: 2,
    again: { 2: 7, 3: 8 },
  });
  const before = childrenOf(4, ended, { epoch: 1, started: 1, again: { 1: 3, 2: 5 } });
  expect(childrenAgain(record, before)).toEqual({
    ...before,
    ended: { 0: ended[0] },
    again: { 1: 3, 2: 7, 3: 8 },
  });
});

it('an end is news when it is later than what is known of it', () => {
  expect(knownVersion(undefined, 0)).toBe(0);
  expect(knownVersion(childrenOf(2), 1)).toBe(0);
  expect(knownVersion(childrenOf(2, { 1: end('failed', 4) }), 1)).toBe(4);
  expect(knownVersion(childrenOf(2, { 1: end('failed', 4) }), 0)).toBe(0);
  expect(knownVersion(childrenOf(2, { 1: end('failed', 4) }, { again: { 1: 6 } }), 1)).toBe(6);
  expect(knownVersion(childrenOf(2, { 1: end('failed', 7) }, { again: { 1: 6 } }), 1)).toBe(7);
});

it('one goes on that failed and was not tried again since', () => {
  const failed = (version: number) => stateOf([], { status: 'failed', version }).execution;
  expect([4, 5, 6, 7].map((version) => isToGoOn(failed(version), 5))).toEqual([true, true, true, false]);
  expect(isToGoOn(stateOf([], { status: 'canceled', version: 5 }).execution, 5)).toBe(false);
});
