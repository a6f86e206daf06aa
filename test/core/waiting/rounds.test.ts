/** Rounds on the way back: which one is next, and what is kept of the one that is undone (S10, N1). */

import type { ChildStep } from '../../../lib/core/plan/plan.ts';
import type { Children } from '../../../lib/core/records/children.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import { child, childrenOf, end, parentOf } from '../family.ts';
import { planOf, recordOf, see, stateOf } from '../one-step.ts';
import { NOW } from '../states.ts';

const repeated: ChildStep = {
  ...child,
  rounds: { until: { $eq: [{ $ref: 'last', path: ['more'] }, false] }, atMost: 9 },
};
const cause = { kind: 'cancel', at: NOW, failure: { code: 'x', message: 'y' } } as const;
const next = (of: Partial<Children>, ended = end('compensated')): Step | undefined =>
  see(
    planOf(repeated),
    stateOf([recordOf('sub', 'compensating', { children: childrenOf(1, { 0: ended }, of) })], {
      ...parentOf(),
      status: 'compensating',
      cause,
    }),
  ).write?.step;

it.each<[string, Partial<Children>, number | undefined]>([
  ['the round before', { try: 3, rounds: { done: 2 } }, 2],
  [
    'none that failed: a person may have said that it left nothing',
    { try: 3, rounds: { done: 1, failed: [2] } },
    1,
  ],
  ['none but those that succeeded', { try: 6, rounds: { done: 2, failed: [2, 4, 5], compensating: 3 } }, 1],
  [
    'nothing after the first that succeeded',
    { try: 3, rounds: { done: 1, failed: [1], compensating: 2 } },
    undefined,
  ],
])('undoes next %s', (_, of, number) => {
  expect(next(of)).toMatchObject(
    number === undefined ? { status: 'compensated' } : { children: { rounds: { compensating: number } } },
  );
});

it('keeps until when one that is undone may act: its place in a lane is handed on no sooner', () => {
  const lateUntil = NOW + 600_000;
  const of = { try: 2, rounds: { done: 1 }, lateUntil: NOW + 5 };
  expect(next(of, end('compensated', 3, { lateUntil }))).toMatchObject({
    children: { ended: {}, lateUntil },
  });
});
