/**
 * Lanes in a plan: the step that waits for a place, the key of an input, what is refused.
 *
 * Owns: these. Does not own: what the option looks like to authors (`builder/workflow.ts`), who gets a
 * place (`waiting/lane.ts`).
 */

import { formatDuration, isDurationMs } from '../values/duration.ts';
import type { Json } from '../values/json.ts';
import { isName } from '../values/names.ts';
import { wholeOf } from './on-failure.ts';
import { type LaneStep, type Plan, type PlanStep, workflowIn } from './plan.ts';
import { evaluateExpression } from './refs.ts';
import { isOneValue } from './fair.ts';
import { sourcesIn } from './refs-in.ts';
import { problem, type Problem } from './refusal.ts';

/** The name of the step that waits for a place; no other step of its workflow has it. */
export const LANE_STEP = 'lane';
export const MAX_PLACES = 100;
const MAX_KEY_CHARS = 1_000;

/** The step that waits for a place: the first, if there is one. */
export function laneOf(plan: Plan): LaneStep | undefined {
  const [first] = wholeOf(plan).steps;
  return first?.kind === 'lane' ? first : undefined;
}

/** From its start to its end: the wait for a place, and then its own time. */
export const longestMs = (plan: Plan): number => plan.withinMs + (laneOf(plan)?.withinMs ?? 0);

/** Before all others, which need not be done before a retry: each waits for the lane itself. */
export const inLane = (lane: LaneStep | undefined, steps: readonly PlanStep[]): readonly PlanStep[] =>
  lane === undefined
    ? steps
    : [lane, ...steps.map((step) => ({ ...step, after: [LANE_STEP, ...step.after] }))];

/** The key of an input, or why it is none. */
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

/** What is refused of a workflow with a lane, or of one above such. */
export function laneProblem(plan: Plan): { readonly step?: string; readonly problem: Problem } | undefined {
  const lane = laneOf(plan);
  const own = lane === undefined ? undefined : ownProblem(lane, plan);
  if (own !== undefined) return { problem: own };
  for (const step of plan.steps) {
    const inner = workflowIn(step);
    const found = inner && (lane === undefined ? aboveProblem(step, inner, plan) : belowProblem(inner));
    if (found !== undefined) return { step: step.name, problem: found };
  }
  return undefined;
}

function ownProblem({ lane, by, atMost, withinMs }: LaneStep, plan: Plan): Problem | undefined {
  if (!isName(lane)) return problem('bad-lane', `its lane's name is not allowed ([a-z][a-z0-9-]{0,47})`);
  if (!Number.isInteger(atMost) || atMost < 1 || atMost > MAX_PLACES)
    return problem('bad-lane', `its lane's 'atMost' is ${String(atMost)}; allowed: 1 to ${MAX_PLACES}`);
  if (!isDurationMs(withinMs))
    return problem('unbounded', "its lane has no 'waitAtMost', so it could wait for ever: write '1h'");
  const isOfInput = sourcesIn(by).length > 0 && sourcesIn(by).every((source) => source === 'input');
  if (!isOfInput || !isOneValue(by))
    return problem(
      'bad-lane',
      "its lane's 'by' is not a text or a number from the input: write by: (input) => input.account",
    );
  if (plan.steps.length > 1) return undefined;
  return problem('no-end', 'it has no steps, so it would never end');
}

/** What runs below an execution with a place is in that place. */
function belowProblem(inner: Plan): Problem | undefined {
  const all = plansIn(inner);
  const other = all.find((plan) => laneOf(plan) !== undefined);
  if (other !== undefined) {
    const message = `it runs workflow '${other.workflow}', and both have a lane: two executions could each hold the place that the other waits for, for ever. Leave one of the lanes out`;
    return problem('lane-in-lane', message);
  }
  const late = all.find((plan) => plan.onFailure !== undefined);
  if (late === undefined) return undefined;
  const message = `it runs workflow '${late.workflow}', whose on-failure steps would act after this one has left its lane: put them into this workflow`;
  return problem('on-failure-in-lane', message);
}

const plansIn = (plan: Plan): readonly Plan[] => [
  plan,
  ...plan.steps.flatMap((step) => {
    const inner = workflowIn(step);
    return inner === undefined ? [] : plansIn(inner);
  }),
];

/** Whether an execution that the step starts, or one below it, is in a lane. */
export function hasLaneBelow(step: PlanStep): boolean {
  const inner = workflowIn(step);
  return inner !== undefined && plansIn(inner).some((plan) => laneOf(plan) !== undefined);
}

/** Undone with the execution above, it would act without a place. */
function aboveProblem(step: PlanStep, inner: Plan, plan: Plan): Problem | undefined {
  const lane = laneOf(inner);
  if (lane === undefined) return undefined;
  const performed = step.kind === 'map' ? step.each : step;
  if (performed.kind !== 'child' || performed.undo !== 'none') {
    const message = `workflow '${inner.workflow}' has a lane, and its undo together with this one would act without a place: write undo: 'none'`;
    return problem('undo-in-lane', message);
  }
  const withinMs = step.withinMs ?? plan.withinMs;
  if (withinMs > lane.withinMs) return undefined;
  const message = `workflow '${inner.workflow}' may wait for its place for ${formatDuration(lane.withinMs)}, and this step has ${formatDuration(withinMs)}, wait included: write a longer 'within' here, or a shorter 'waitAtMost' there`;
  return problem('within-too-short', message);
}
