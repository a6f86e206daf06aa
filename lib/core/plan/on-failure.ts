/**
 * On-failure steps: a list of their own in the plan; they follow once an execution has ended without success.
 *
 * Owns: the plan by which an execution that follows up is decided, and which step is in which list. Does not
 * own: refusals (`check-on-failure.ts`), when they begin and end (`execution/end-rules.ts`).
 *
 * S21 while an execution follows up, its plan has only its on-failure steps: no other step can be claimed,
 * retried, undone or reported. Before and after, it has none of them. Each may fail, as a tolerated step may
 * (S20), and is never undone.
 */

import type { Snapshot } from '../records/snapshot.ts';
import { type Execution, hasEnd } from '../records/state.ts';
import { type AgentStep, agentStep, type Plan, type PlanStep } from './plan.ts';

const plans = new WeakMap<Plan, Plan>();

/** @param plan as it is stored, or as it is in the execution's status */
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

/** The on-failure steps as they are decided on: each may fail. */
export const onFailureSteps = (plan: Plan): readonly AgentStep[] =>
  storedPlanOf(plan).onFailure === undefined
    ? []
    : (onFailurePlan(storedPlanOf(plan)).steps as readonly AgentStep[]);

export const isOnFailure = (plan: Plan, name: string): boolean =>
  storedPlanOf(plan).onFailure?.some((step) => step.name === name) === true;

/** The steps to show: its own, and its on-failure steps once they have begun. */
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
