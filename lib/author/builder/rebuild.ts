/**
 * A workflow's function run again, with other values in the place of its references: shows
 * whether the steps depend on them.
 *
 * Owns: the way from a workflow to another run of its function. Does not own: what is put in their place,
 * what follows (`infra/tested-references.ts`). Nothing that runs an execution rebuilds its workflow.
 */

import type { AgentStep, PlanStep } from '../../core/plan/plan.ts';
import type { Expr, MakeRef } from '../../core/plan/refs.ts';

/** As declared: in the order of the author's calls, and unchecked. */
export interface Declared {
  readonly steps: readonly PlanStep[];
  readonly onFailure: readonly AgentStep[];
  readonly output: Expr;
}

/** By name: the package's copy that loads a workflow need not be the one that declared it. */
const REBUILD: unique symbol = Symbol.for('steadfast.rebuild');
type Rebuild = (make: MakeRef) => Declared;

export const rebuildable = <W extends object>(workflow: W, rebuild: Rebuild): W =>
  Object.defineProperty(workflow, REBUILD, { value: rebuild, enumerable: false });

/** @throws what the author's function throws */
export const rebuilt = (workflow: object, make: MakeRef): Declared | undefined =>
  (workflow as { readonly [REBUILD]?: Rebuild })[REBUILD]?.(make);
