/**
 * Names of steps as their author knows them: an item of a list by the list's step and its place, 'rooms[1]'.
 *
 * Owns: the way from a part of a list, whose steps are numbered, back to the list. Does not own: how a list
 * is cut (`core/waiting/map.ts`), the plan of a part (`core/plan/child-plans.ts`).
 */

import type { Parent } from '../../core/records/children.ts';
import type { Execution } from '../../core/records/state.ts';

type Known = Pick<Execution, 'id' | 'parent' | 'input'>;

const ITEM = /^i(\d+)$/;

export class StepNames {
  readonly #executions = new Map<string, Known>();

  constructor(executions: Iterable<Known> = []) {
    for (const one of executions) this.add(one);
  }

  /** Those before it in its list must be known for its items to have their places. */
  add(execution: Known): void {
    this.#executions.set(execution.id, execution);
  }

  /** 'charge'; of an item of a list 'rooms[1]'. */
  nameOf(executionId: string, step: string): string {
    const execution = this.#executions.get(executionId);
    const [, number] = ITEM.exec(step) ?? [];
    if (execution?.parent?.part !== true || number === undefined) return step;
    const { parent } = execution;
    const name = this.nameOf(parent.executionId, parent.step);
    return `${name}[${this.#before(parent) + Number(number)}]`;
  }

  /** The name in quotes, and of what runs within an item of a list which one. */
  quoted(executionId: string, step: string): string {
    const name = this.nameOf(executionId, step);
    const within = this.#itemAbove(executionId);
    return within === undefined || name !== step ? `'${name}'` : `'${name}' of '${within}'`;
  }

  #itemAbove(executionId: string): string | undefined {
    const parent = this.#executions.get(executionId)?.parent;
    if (parent === undefined) return undefined;
    const name = this.nameOf(parent.executionId, parent.step);
    return name === parent.step ? this.#itemAbove(parent.executionId) : name;
  }

  /** Items of the parts before this one. */
  #before({ executionId, step, index, epoch, try: number }: Parent): number {
    let items = 0;
    for (const { parent, input } of this.#executions.values())
      if (
        parent?.executionId === executionId &&
        parent.step === step &&
        parent.epoch === epoch &&
        parent.try === number &&
        parent.index < index
      )
        items += (Object(input) as { items?: readonly unknown[] }).items?.length ?? 0;
    return items;
  }
}
