/**
 * Names steps in messages to the test's author. A step within a list's item is named with the item.
 *
 * Owns: finding the item of an execution. Does not own: the form of an item's name
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
