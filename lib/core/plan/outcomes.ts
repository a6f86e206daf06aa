/**
 * Outcomes in a plan: which steps may fail without failing their execution, and which outcomes conditions
 * read.
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
 * True if the step's failure does not fail its execution. In a list this concerns some items
 * (`MapStep.tolerate`), not the step itself.
 */
export const isTolerated = (step: PlanStep): boolean => step.kind !== 'map' && step.tolerate === true;

const readOutcomes = new WeakMap<Plan, ReadonlySet<string>>();

/** True if the condition of another step depends on how this one ended. */
export function isOutcomeRead(plan: Plan, name: string): boolean {
  let known = readOutcomes.get(plan);
  if (known === undefined) {
    known = new Set(plan.steps.flatMap(({ when }) => (when === undefined ? [] : stepsIn(when))));
    readOutcomes.set(plan, known);
  }
  return known.has(name);
}
