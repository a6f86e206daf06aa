/**
 * Executions that belong to others, at the end: a parent's word about its children against what they say themselves.
 *
 * Owns: these checks. Does not own: effects, which every execution is judged by for itself (`oracle.ts`).
 */

import type { Plan, PlanStep } from '../../core/plan.ts';
import { isTerminal, type Snapshot, type Step } from '../../core/state.ts';

/** @param read the record of a child as it is now */
export function judgeChildren(
  plan: Plan,
  { execution, steps }: Snapshot,
  read: (executionId: string) => Snapshot | undefined,
): string[] {
  const problems: string[] = [];
  const succeeded = execution.status === 'succeeded';
  const left =
    execution.cause?.undo === false || Object.values(steps).some((step) => step.status === 'undo-failed');
  for (const step of plan.steps) {
    const record = steps[step.name];
    if (step.kind === 'step') continue;
    const status = record?.status;
    if (succeeded && status !== 'done' && status !== 'skipped')
      problems.push(`S7 succeeded, but '${step.name}' is ${status ?? 'not begun'}`);
    if (step.kind !== 'child' && step.kind !== 'map') continue;
    for (const child of childrenOf(execution.id, step.name, record, read)) {
      const end = child.execution.status;
      if (!isTerminal(end)) problems.push(`S10 '${child.execution.id}' outlives its parent: ${end}`);
      if (succeeded && status === 'done' && end !== 'succeeded')
        problems.push(`S6 '${step.name}' is done, but ${child.execution.id} is ${end}`);
      if (!succeeded && end === 'succeeded' && isToBeUndone(step) && !left)
        problems.push(`S10 ${execution.status}, but ${child.execution.id} stays succeeded`);
    }
  }
  return problems;
}

const isToBeUndone = (step: PlanStep): boolean =>
  step.kind === 'map' ? step.each.undo !== 'none' : step.kind === 'child' && step.undo !== 'none';

/** Lists are short here: some that the parent does not know of are found, if there are any. */
const UNKNOWN_TO_PARENT = 8;

function childrenOf(
  parentId: string,
  name: string,
  record: Step | undefined,
  read: (executionId: string) => Snapshot | undefined,
): Snapshot[] {
  const length = Math.max(record?.children?.count ?? 0, UNKNOWN_TO_PARENT);
  return Array.from({ length }, (_, index) => read(`${parentId}.${name}.${index}`)).filter(
    (child) => child !== undefined,
  );
}
