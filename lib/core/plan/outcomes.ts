/**
 * Outcomes in a plan: which steps may fail without their execution, and which outcomes conditions depend on.
 *
 * Owns: these two questions. Does not own: the refusals of impossible conditions
 * (`author/checks/check-outcomes.ts`), when a failure is tolerated (`execution/step-rules.ts`).
 *
 * S20 once a step has passed, exactly one of succeeded, failed and skipped is true, so a condition on an
 * outcome is never read before it is final.
 */

import type { Plan, PlanStep } from './plan.ts';
import { stepsIn } from './refs-in.ts';

/**
 * The failure of the step is not its execution's. For a list this is true of some items' failures
 * (`MapStep.tolerate`), not of the step's own.
 */
export const isTolerated = (step: PlanStep): boolean => step.kind !== 'map' && step.tolerate === true;

const readOutcomes = new WeakMap<Plan, ReadonlySet<string>>();

/** The condition of another step depends on how this one ended. */
export function isOutcomeRead(plan: Plan, name: string): boolean {
  let known = readOutcomes.get(plan);
  if (known === undefined) {
    known = new Set(plan.steps.flatMap(({ when }) => (when === undefined ? [] : stepsIn(when))));
    readOutcomes.set(plan, known);
  }
  return known.has(name);
}
