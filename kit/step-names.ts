/**
 * The names of steps in messages to their author. A step within an item of a list also names the item.
 *
 * Owns: the way from an execution to the item above it. Does not own: how items are named
 * (`core/plan/child-plans.ts`).
 */

import type { Execution } from '../lib/core/records/state.ts';
import { isItemName } from '../lib/core/values/names.ts';

type Known = Pick<Execution, 'id' | 'parent'>;

export class StepNames {
  readonly #parents = new Map<string, Known['parent']>();

  constructor(executions: Iterable<Known> = []) {
    for (const one of executions) this.add(one);
  }

  add({ id, parent }: Known): void {
    this.#parents.set(id, parent);
  }

  /** The name in quotes, such as 'charge'; within an item of a list 'charge' of 'rooms[1]'. */
  quoted(executionId: string, step: string): string {
    const within = this.#itemAbove(executionId);
    return within === undefined ? `'${step}'` : `'${step}' of '${within}'`;
  }

  #itemAbove(executionId: string): string | undefined {
    const parent = this.#parents.get(executionId);
    if (parent === undefined) return undefined;
    return isItemName(parent.step) ? parent.step : this.#itemAbove(parent.executionId);
  }
}
