/**
 * Outcomes in a plan: which steps may fail without their execution, and who asks how one ended.
 *
 * Owns: these two questions. Does not own: the refusals of what could not hold
 * (`author/checks/check-outcomes.ts`), when a failure is tolerated (`execution/tolerate.ts`).
 *
 * S20 of succeeded, failed and skipped exactly one holds from when a step has passed, so that a condition on
 * an outcome is never read before it is final.
 */

import type { Plan, PlanStep } from './plan.ts';
import { stepsIn } from './refs-in.ts';

/**
 * The failure of the step is not its execution's. Of a list some items' are
 * (`MapStep.tolerate`), the step's own is not.
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
