/** Steps with child executions, and what a step's record says about them. */

import type { ChildStep, MapStep, Plan } from '../../lib/core/plan/plan.ts';
import type { ChildEnd, Children } from '../../lib/core/records/children.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import type { ExecutionStatus } from '../../lib/core/moves.ts';
import { planStep, planWith } from '../author/refusals.ts';

export const child: ChildStep = {
  kind: 'child',
  name: 'sub',
  after: [],
  plan: planWith({}),
  input: { of: { $ref: 'input', path: ['order'] } },
  undo: 'required',
};
export const map: MapStep = {
  kind: 'map',
  name: 'list',
  after: [],
  over: { $ref: 'input', path: ['list'] },
  each: {
    ...planStep,
    input: { $ref: 'item', path: [] },
    undo: { kind: 'retry', attempts: 2, firstMs: 1, maxMs: 1 },
  },
  tolerate: { items: 0 },
};
/** A list whose items need no undo. */
export const keptMap: MapStep = { ...map, each: { ...map.each, undo: 'none' } };
export const familyPlan: Plan = { ...planWith({}), steps: [child, map] };

export const end = (status: ExecutionStatus, version = 3, more: Partial<ChildEnd> = {}): ChildEnd => ({
  status,
  version,
  clean: status === 'canceled' || status === 'compensated',
  ...more,
});
export const childrenOf = (
  count: number,
  ended: Children['ended'] = {},
  more: Partial<Children> = {},
): Children => ({ count, started: count, items: count, tolerated: 0, ended, ...more });
/** The execution whose steps start the others. */
export const parentOf = (more: Partial<Execution> = {}): Partial<Execution> => ({
  input: { order: 5, list: [7, 8] },
  ...more,
});
