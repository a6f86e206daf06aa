/** Rounds: which one is next, which is undone next, and what is stored about earlier ones (S10, N1). */

import type { ChildStep } from '../../../lib/core/plan/plan.ts';
import { decide } from '../../../lib/core/decide.ts';
import type { Children } from '../../../lib/core/records/children.ts';
import { holderOf, withValue } from '../../../lib/core/records/large-values.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import { nextTryBegun, nextUnderCounter } from '../../../lib/core/waiting/child-tries.ts';
import { earlierRounds, nextRoundBegun } from '../../../lib/core/waiting/rounds.ts';
import { child, childrenOf, end, parentOf } from '../family.ts';
import { inputs, planOf, recordOf, see, stateOf } from '../one-step.ts';
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

describe('the record of the next number', () => {
  const begun = (of: Partial<Children>): Children | undefined =>
    nextTryBegun(repeated, recordOf('sub', 'retrying', { children: childrenOf(1, {}, of) }), inputs).children;

  it('names all tries that failed before it: else none could say which numbers were rounds', () => {
    const known = begun({ try: 3, rounds: { done: 1, failed: [2] } });
    expect(known).toMatchObject({ try: 4, rounds: { done: 1, failed: [2, 3] } });
    expect(earlierRounds(known as Children)).toEqual([1]);
  });

  it('keeps of each round after which of its ends it went on', () => {
    const of = { try: 3, restartedAfter: { 1: 4, 3: 9 }, rounds: { done: 2 } };
    expect(begun(of)).toMatchObject({ try: 4, restartedAfter: { 1: 4, 3: 9 } });
  });

  it('keeps until when those before it may act', () => {
    const children = childrenOf(1, { 0: end('failed', 3, { clean: true, lateUntil: NOW + 9 }) });
    expect(nextUnderCounter(children, undefined).lateUntil).toBe(NOW + 9);
    expect(nextUnderCounter({ ...children, ended: {}, lateUntil: NOW + 5 }, undefined).lateUntil).toBe(
      NOW + 5,
    );
  });

  it('keeps that a round before it has left something', () => {
    const children = childrenOf(1, { 0: end('succeeded') }, { try: 2, rounds: { done: 1, left: true } });
    const { children: begunNext } = nextRoundBegun(
      recordOf('sub', 'running'),
      children,
      { input: 1 },
      inputs,
    );
    expect(begunNext?.rounds).toEqual({ done: 2, left: true, input: 1 });
  });
});

it('undoes no round while something of the one after it acts', () => {
  const ended = end('compensated', 3, { actsUntil: NOW + 5_000 });
  expect(next({ try: 2, rounds: { done: 1 } }, ended)).toBeUndefined();
  expect(next({ try: 2, rounds: { done: 1 } }, { ...ended, actsUntil: NOW })).toBeDefined();
});

describe('an answer after which another round would follow', () => {
  const ref = { hash: 'h', id: 'w-1', bytes: 40_000 };
  const running = (of: Partial<Children>): Snapshot =>
    stateOf(
      [recordOf('sub', 'running', { children: childrenOf(1, { 0: end('succeeded') }, of) })],
      parentOf(),
    );
  const read = (state: Snapshot, step = repeated): Step | undefined =>
    decide(planOf(step), state, { type: 'gathered', step: 'sub', outputs: [{ more: true }], ...inputs }).write
      ?.step;

  it('begins it', () => {
    expect(read(running({}))).toMatchObject({ status: 'running', children: { try: 2, rounds: { done: 1 } } });
  });

  it('fails its step once the time of that is over, although nobody has stopped it yet', () => {
    const late = { ...repeated, withinMs: 1_000 };
    const { execution, steps } = running({});
    const state = { execution: { ...execution, startedAt: NOW - 1_000 }, steps };
    expect(read(state, late)).toMatchObject({ status: 'failed', failure: { code: 'within' } });
  });

  it('fails its step where what that round was given is lost (V4)', () => {
    const of = { try: 2, rounds: { done: 1, inputAt: ref } };
    const lost = withValue(running(of), { holder: holderOf('sub'), ref }, 'lost');
    expect(read(lost)).toMatchObject({ status: 'failed', failure: { code: 'value-lost' } });
  });
});
