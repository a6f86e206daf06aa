/**
 * Refuses mistakes in a workflow with a lane, and in workflows that run one as a child.
 *
 * Does not own: the lane's step and its key (`core/plan/lane.ts`), which execution gets a place
 * (`core/waiting/lane.ts`).
 */

import { laneOf, plansIn } from '../../core/plan/lane.ts';
import { type LaneStep, type Plan, type PlanStep, workflowIn } from '../../core/plan/plan.ts';
import { sourcesIn } from '../../core/plan/refs-in.ts';
import { formatDuration, isDurationMs } from '../../core/values/duration.ts';
import { isName } from '../../core/values/names.ts';
import { isOneValue } from './check-input-fields.ts';
import { problem, type Problem } from './refusal.ts';

export const MAX_PLACES = 100;

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
  if (!isName(lane))
    return problem('bad-concurrency', `its concurrency's 'group' is not allowed ([a-z][a-z0-9-]{0,47})`);
  if (!Number.isInteger(atMost) || atMost < 1 || atMost > MAX_PLACES)
    return problem(
      'bad-concurrency',
      `its concurrency's 'limit' is ${String(atMost)}; allowed: 1 to ${MAX_PLACES}`,
    );
  if (!isDurationMs(withinMs))
    return problem('unbounded', "its concurrency has no 'waitWithin', so it could wait for ever: write '1h'");
  const isOfInput = sourcesIn(by).length > 0 && sourcesIn(by).every((source) => source === 'input');
  if (!isOfInput || !isOneValue(by))
    return problem(
      'bad-concurrency',
      "its concurrency's 'key' is not a text or a number from the input: write key: (input) => input.account",
    );
  if (plan.steps.length > 1) return undefined;
  return problem('no-end', 'it has no steps, so it would never end');
}

/** Refuses a lane or on-failure steps in a child, because a child shares its parent's place. */
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

/** Refuses a child with a lane that would be undone with its parent: it would then act without a place. */
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
  const message = `workflow '${inner.workflow}' may wait for its place for ${formatDuration(lane.withinMs)}, and this step has ${formatDuration(withinMs)}, wait included: write a longer 'within' here, or a shorter 'waitWithin' there`;
  return problem('within-too-short', message);
}
