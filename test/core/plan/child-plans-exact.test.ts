/** The plans of children: how they are named, found in their parent's, and made for a part of a list. */

import { childPlanId, partPlanId, planAt, storedHash } from '../../../lib/core/plan/child-plans.ts';
import type { MapStep, Plan } from '../../../lib/core/plan/plan.ts';
import { child, map } from '../family.ts';
import { planOf } from '../one-step.ts';
import { planStep } from '../refusals.ts';

const inner: Plan = { ...planOf({ ...map, name: 'deep' }), workflow: 'inner' };
const stored: Plan = { ...planOf({ ...child, plan: inner }, map, planStep), withinMs: 9_000 };

it('are named by the way to them', () => {
  expect(childPlanId('h', child)).toBe('h.sub');
  expect(partPlanId('h.sub', map, 25, 3)).toBe('h.sub.list.25x3');
  expect(storedHash('h.sub.list.25x3')).toBe('h');
  expect(storedHash('hash')).toBe('hash');
});

it('are found by their names', () => {
  expect(planAt(stored, 'h')).toBe(stored);
  expect(planAt(stored, 'h.sub')).toBe(inner);
  expect(planAt(stored, 'h.list.2x1')).toMatchObject({ workflow: 'flow', withinMs: 9_000, tolerated: 1 });
  expect(planAt(stored, 'h.sub.deep.1x0')).toMatchObject({ workflow: 'inner', tolerated: 0 });
});

it.each([
  'h.x',
  'h.it',
  'h.it.2x1',
  'h.it.0x0',
  'h.x.0x0',
  'h.list',
  'h.list.2',
  'h.list.x2x1',
  'h.list.2x1x',
  'h.list.2x',
  'h.list.x1',
  'h.list.12345x1',
  'h.list.1x123456',
  'h.list.-1x1',
  'h.it.sub',
  'h.sub.sub',
  'h.list.2x1.i0',
  'h.x.sub',
])('%s is the name of none', (id) => {
  expect(planAt(stored, id)).toBeUndefined();
});

it('are found by the longest names of parts', () => {
  expect(planAt(stored, 'h.list.1234x0')?.steps).toHaveLength(1_234);
  expect(planAt(stored, 'h.list.0x12345')).toMatchObject({ steps: [], output: [], tolerated: 12_345 });
});

describe('of a part', () => {
  const partOf = (step: Partial<MapStep>, size: number): Plan | undefined =>
    planAt(planOf({ ...map, ...step }), `h.list.${size}x2`);
  const itemAt = (at: number, after: readonly string[]) => ({
    ...map.each,
    name: `i${at}`,
    input: { $ref: 'input', path: ['items', String(at)] },
    after,
  });

  it('is a step an item, and all of their outputs', () => {
    expect(partOf({}, 2)).toEqual({
      v: 1,
      workflow: 'flow',
      withinMs: planOf(map).withinMs,
      steps: [itemAt(0, []), itemAt(1, [])],
      output: [
        { $ref: 'step:i0', path: [] },
        { $ref: 'step:i1', path: [] },
      ],
      tolerated: 2,
    });
  });

  it('has as many lanes as may be under way', () => {
    const lanes = partOf({ concurrency: 2 }, 5)?.steps.map(({ after }) => after);
    expect(lanes).toEqual([[], [], ['i0'], ['i1'], ['i2']]);
    expect(partOf({ concurrency: 1 }, 2)?.steps.map(({ after }) => after)).toEqual([[], ['i0']]);
  });

  it('has the other inputs of each item on its stages', () => {
    const [same, other] = [
      { kind: 'retry', attempts: 1, firstMs: 0, maxMs: 0 },
      { kind: 'withInput', input: { $ref: 'item', path: [] }, attempts: 1, firstMs: 0, maxMs: 0 },
    ] as const;
    const recoveries = partOf({ each: { ...map.each, recovery: [same, other] } }, 2)?.steps.map(
      (step) => step.kind === 'agent' && step.recovery,
    );
    const input = (at: number) => ({ $ref: 'input', path: ['others', String(at), '1'] });
    expect(recoveries).toEqual([
      [same, { ...other, input: input(0) }],
      [same, { ...other, input: input(1) }],
    ]);
  });
});
