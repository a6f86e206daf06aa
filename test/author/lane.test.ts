/** Refused lanes: steps that could wait for ever, or act without a place. */

import * as z from 'zod/mini';
import { type ConcurrencyOptions, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anAgent } from '../engine/harness.ts';

const input = z.object({ account: z.string() });
const worker = anAgent('worker');
const LANE: ConcurrencyOptions<{ account: string }> = {
  key: ({ account }) => account,
  limit: 2,
  waitWithin: '1h',
};
const aStep = (w: { step: (...of: unknown[]) => unknown }): void => {
  w.step('a', worker, {});
};
const flow = (lane: object | undefined = LANE, build?: (w: never) => void): Workflow =>
  workflow(
    'flow',
    { input, within: '3h', ...(lane === undefined ? {} : { concurrency: { ...LANE, ...lane } }) },
    (build as never) ?? aStep,
  ) as Workflow;
const reasonOf = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    return String((error as { details?: { reason?: string } }).details?.reason);
  }
  return 'accepted';
};
const above = (inner: Workflow, options: object, own: object = {}): Workflow =>
  workflow('above', { input, within: '2h', ...own }, (w) => {
    w.child('sub', inner, { account: 'a' } as never, options);
  }) as Workflow;

it('is the first step, and each other waits for it itself', () => {
  const { plan } = workflow('flow', { input, within: '3h', concurrency: LANE }, (w) => {
    const a = w.step('a', worker, {});
    w.step('b', worker, { a: a.output as never });
  });
  expect(plan.steps.map(({ name, after }) => [name, after])).toEqual([
    ['lane', []],
    ['a', ['lane']],
    ['b', ['lane', 'a']],
  ]);
  expect(plan.steps[0]).toMatchObject({ kind: 'lane', lane: 'flow', atMost: 2, withinMs: 3_600_000 });
});

it.each([
  ['no places', { limit: 0 }, 'bad-concurrency'],
  ['too many', { limit: 101 }, 'bad-concurrency'],
  ['a name that is none', { group: 'No' }, 'bad-concurrency'],
  ['a key that is not of the input', { key: () => 'a' as never }, 'bad-concurrency'],
  ['a list for a key', { key: (given: { account: never }) => [given.account] as never }, 'bad-concurrency'],
  ['no end of the wait', { waitWithin: undefined }, 'unbounded'],
])('refuses %s', (_what, lane, reason) => {
  expect(reasonOf(() => flow(lane))).toBe(reason);
});

it('refuses a workflow that is nothing but its lane, and a step of its name', () => {
  expect(reasonOf(() => flow({}, () => undefined))).toBe('no-end');
  const twice = (w: { step: (...of: unknown[]) => unknown }): void => {
    w.step('lane', worker, {});
  };
  expect(reasonOf(() => flow({}, twice as never))).toBe('duplicate-name');
});

it('refuses a lane within a lane, however deep, and on-failure steps there', () => {
  const late = workflow('late', { input, within: '1h' }, (w) => {
    w.step('a', worker, {});
    w.onFailure('tell', worker, {}, { recovery: [] });
  }) as Workflow;
  const between = workflow('between', { input, within: '2h' }, (w) => {
    w.child('sub', flow(), { account: 'a' } as never, { undo: 'none' });
  }) as Workflow;
  expect(reasonOf(() => above(flow(), { undo: 'none' }, { concurrency: LANE }))).toBe('lane-in-lane');
  expect(reasonOf(() => above(between, {}, { concurrency: LANE }))).toBe('lane-in-lane');
  expect(reasonOf(() => above(late, {}, { concurrency: LANE }))).toBe('on-failure-in-lane');
  expect(reasonOf(() => above(late, {}))).toBe('accepted');
});

it('refuses a child with a lane that would be undone, or whose wait is longer than the time around it', () => {
  expect(reasonOf(() => above(flow(), {}))).toBe('undo-in-lane');
  expect(reasonOf(() => above(flow(), { undo: 'none', within: '1h' }))).toBe('within-too-short');
  expect(reasonOf(() => above(flow(), { undo: 'none' }, { within: '30m' }))).toBe('within-too-short');
  expect(reasonOf(() => above(flow(), { undo: 'none' }))).toBe('accepted');
  const listed = (undo?: 'none') => () =>
    workflow('above', { input, within: '2h' }, (w) => {
      const items = (w.input as never as { items: never }).items;
      w.map('each', flow(), items, () => ({ account: 'a' }) as never, undo === undefined ? {} : { undo });
    });
  expect(reasonOf(listed())).toBe('undo-in-lane');
  expect(reasonOf(listed('none'))).toBe('accepted');
});
