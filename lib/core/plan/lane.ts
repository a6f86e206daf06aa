/**
 * Lanes in a plan: the step that waits for a place, and the key of an input.
 *
 * Owns: these two. Does not own: the author's option (`author/builder/workflow.ts`), its refusals
 * (`author/checks/check-lane.ts`), who gets a place (`waiting/lane.ts`).
 */

import type { Json } from '../values/json.ts';
import { storedPlanOf } from './on-failure.ts';
import { type LaneStep, type Plan, type PlanStep, workflowIn } from './plan.ts';
import { evaluateExpression } from './refs.ts';

/** The name of the step that waits for a place; no other step of its workflow has it. */
export const LANE_STEP = 'lane';
const MAX_KEY_CHARS = 1_000;

/** The step that waits for a place: the first, if there is one. */
export function laneOf(plan: Plan): LaneStep | undefined {
  const [first] = storedPlanOf(plan).steps;
  return first?.kind === 'lane' ? first : undefined;
}

/** The longest time from start to end: waiting for a place, then the execution's own time. */
export const longestMs = (plan: Plan): number => plan.withinMs + (laneOf(plan)?.withinMs ?? 0);

/**
 * Puts the lane's step before all others. After a retry the others do not need it to be done, because each
 * waits for the lane itself.
 */
export const inLane = (lane: LaneStep | undefined, steps: readonly PlanStep[]): readonly PlanStep[] =>
  lane === undefined
    ? steps
    : [lane, ...steps.map((step) => ({ ...step, after: [LANE_STEP, ...step.after] }))];

/** The key of an input, or why there is none. */
export function laneKey(
  { lane, by }: LaneStep,
  input: Json,
): { readonly key: string } | { readonly problem: string } {
  const value = evaluateExpression(by, { input, output: () => undefined });
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { key: String(value) };
  if (typeof value === 'string' && value.length > 0 && value.length <= MAX_KEY_CHARS) return { key: value };
  const what = typeof value === 'string' ? `a text of ${value.length} characters` : kindOf(value);
  return {
    problem: `the key of lane '${lane}' is ${what}; allowed: a text of 1 to ${MAX_KEY_CHARS} characters and a whole number`,
  };
}

const kindOf = (value: Json | undefined): string => {
  if (value === undefined || value === null) return 'missing';
  return typeof value === 'number'
    ? 'not a whole number'
    : `not a text: ${Array.isArray(value) ? 'a list' : typeof value}`;
};

export const plansIn = (plan: Plan): readonly Plan[] => [
  plan,
  ...plan.steps.flatMap((step) => {
    const inner = workflowIn(step);
    return inner === undefined ? [] : plansIn(inner);
  }),
];

/** True if an execution that the step starts, or one below it, is in a lane. */
export function hasLaneBelow(step: PlanStep): boolean {
  const inner = workflowIn(step);
  return inner !== undefined && plansIn(inner).some((plan) => laneOf(plan) !== undefined);
}
