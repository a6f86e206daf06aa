/**
 * On-failure steps: a second list of steps in the plan. They run after an execution has ended without
 * success.
 *
 * Owns: which of the two lists the rules see in each status, and in which list a step is. Does not own:
 * refusals (`check-on-failure.ts`), when they begin and end (`execution/end-rules.ts`).
 *
 * S21 while an execution follows up, its plan has only its on-failure steps: no other step can be claimed,
 * retried, undone or reported. Before and after, it has none of them. Each may fail, as a tolerated step may
 * (S20), and is never undone.
 */

import type { Snapshot } from '../records/snapshot.ts';
import { type Execution, hasEnd } from '../records/state.ts';
import { type AgentStep, agentStep, type Plan, type PlanStep } from './plan.ts';

const plans = new WeakMap<Plan, Plan>();

/** @param plan the stored plan, or the result of an earlier call */
export const planInStatus = (plan: Plan, { status }: Pick<Execution, 'status'>): Plan =>
  status === 'following-up' && plan.onFailureOf === undefined ? onFailurePlan(plan) : plan;

function onFailurePlan(plan: Plan): Plan {
  const known = plans.get(plan);
  if (known !== undefined) return known;
  const { onFailure = [], ...rest } = plan;
  const steps = onFailure.map((step): AgentStep => ({ ...step, tolerate: true }));
  const made: Plan = { ...rest, steps, output: {}, onFailureOf: plan };
  plans.set(plan, made);
  return made;
}

/** The plan as it is stored. */
export const storedPlanOf = (plan: Plan): Plan => plan.onFailureOf ?? plan;

/** The on-failure steps as the rules see them: each may fail. */
export const onFailureSteps = (plan: Plan): readonly AgentStep[] =>
  storedPlanOf(plan).onFailure === undefined
    ? []
    : (onFailurePlan(storedPlanOf(plan)).steps as readonly AgentStep[]);

export const isOnFailure = (plan: Plan, name: string): boolean =>
  storedPlanOf(plan).onFailure?.some((step) => step.name === name) === true;

/** The steps to show: the plan's steps, then its on-failure steps once these have begun. */
export const shownSteps = (plan: Plan, { execution, steps }: Snapshot): readonly PlanStep[] => {
  const { onFailure } = storedPlanOf(plan);
  const isLater = onFailure !== undefined && (hasEnd(execution) || execution.retries !== undefined);
  const begun = isLater
    ? onFailureSteps(plan).filter(({ name }) => steps[name] !== undefined || !isOver(execution))
    : [];
  return [...storedPlanOf(plan).steps, ...begun];
};

const isOver = ({ status }: Execution): boolean => status !== 'following-up';

/** The step of that name, of either list, if an agent performs it. */
export const performedStep = (plan: Plan, name: string): AgentStep | undefined =>
  agentStep(storedPlanOf(plan), name) ?? onFailureSteps(plan).find((step) => step.name === name);
