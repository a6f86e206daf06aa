/**
 * Checks the input that a step gives to a child execution against the child's schema.
 *
 * Owns: which schema belongs to a plan. Does not own: the consequences of a refused input for the step
 * (`engine/children.ts`).
 *
 * A schema is code, and a child's plan is data that may be older. So a schema checks the input only if its
 * workflow still has the same plan.
 */

import type { Workflow } from '../core/plan/workflow.ts';
import type { ChildInputs } from '../core/ports.ts';
import { canonicalJson, type Json } from '../core/values/json.ts';
import { check, type Place } from '../engine/schema.ts';

/** @param workflows those that are started from outside; the workflows that they run are added */
export function childInputsOf(workflows: readonly Workflow[], place: Place): ChildInputs | undefined {
  const children = new Set<Workflow>();
  const collect = (workflow: Workflow): void => {
    for (const child of workflow.children) {
      if (!children.has(child)) collect(child);
      children.add(child);
    }
  };
  for (const workflow of workflows) collect(workflow);
  if (children.size === 0) return undefined;
  const keyOf = (plan: Workflow['plan']): string => canonicalJson(plan as unknown as Json);
  let schemas: ReadonlyMap<string, Workflow['input']> | undefined;
  return {
    problem: async (plan, input) => {
      schemas ??= new Map([...children].map((child) => [keyOf(child.plan), child.input]));
      const schema = schemas.get(keyOf(plan));
      if (schema === undefined) return undefined;
      const checked = await check(schema, input, place);
      // If the schema throws, nothing is known about the input.
      return 'issues' in checked && checked.threw !== true ? checked.issues : undefined;
    },
  };
}
