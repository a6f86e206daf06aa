/**
 * Judges child executions: the parent's record against the children's own records, and the order of their
 * undos.
 *
 * Owns: these checks, independent of the rules. Does not own: the effects of a single execution
 * (`oracle.ts`).
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, hasEnd, isTerminal, type Step } from '../../lib/core/records/state.ts';
import { childrenOf, type Others } from './families.ts';
import { actedAs } from './oracle-order.ts';
import { isRepeatedIn } from './oracle-rounds.ts';

/**
 * S10 between executions: a successful child is recalled only when no later step of the parent has an effect
 * in place, by the records of child executions, not the parent's.
 */
export function judgeRecall(before: Execution, { execution }: Write, { read, planOf }: Others): string[] {
  const { parent, status } = before;
  if (parent === undefined || status !== 'succeeded' || execution?.status !== 'compensating') return [];
  const family = read(parent.executionId);
  const plan = planOf(parent.executionId);
  if (family === undefined || plan === undefined) return ['S10 taken back without a parent'];
  return stepsAfter(plan, parent.step)
    .filter((step) => isInEffect(family, step, read))
    .map(({ name }) => `S10 it was taken back before '${name}' of its parent was undone`);
}

/** All steps after this one, direct or not. */
function stepsAfter(plan: Plan, name: string): PlanStep[] {
  const found = new Set([name]);
  // Steps are listed after their predecessors.
  for (const step of plan.steps) if (step.after.some((one) => found.has(one))) found.add(step.name);
  return plan.steps.filter((step) => step.name !== name && found.has(step.name));
}

const IN_EFFECT: ReadonlySet<Step['status']> = new Set([
  'done',
  'unknown',
  'accepted',
  'compensating',
  'compensation-failed',
]);

function isInEffect({ execution, steps }: Snapshot, step: PlanStep, read: Others['read']): boolean {
  const record = steps[step.name];
  if (step.kind === 'agent')
    return (
      record?.leaseUntil !== undefined ||
      (actedAs(step, record).undo !== 'none' && IN_EFFECT.has(record?.status ?? 'ready'))
    );
  if (step.kind !== 'child' && step.kind !== 'map') return false;
  return childrenOf(execution, step, read, record?.children?.count).some(
    // An on-failure step is not undone.
    ({ execution: { status } }) =>
      status !== 'following-up' && (!isTerminal(status) || (status === 'succeeded' && isToBeUndone(step))),
  );
}

/** @param read reads a child's current record */
export function judgeChildren(
  plan: Plan,
  { execution, steps }: Snapshot,
  read: (executionId: string) => Snapshot | undefined,
): string[] {
  const problems: string[] = [];
  const succeeded = execution.status === 'succeeded';
  const left =
    execution.cause?.undo === false ||
    Object.values(steps).some((step) => step.status === 'compensation-failed');
  for (const step of plan.steps) {
    const record = steps[step.name];
    if (step.kind === 'agent') continue;
    const status = record?.status;
    if (succeeded && status !== 'done' && status !== 'skipped' && status !== 'tolerated')
      problems.push(`S7 succeeded, but '${step.name}' is ${status ?? 'not begun'}`);
    if (step.kind !== 'child' && step.kind !== 'map') continue;
    const children = childrenOf(execution, step, read, record?.children?.count);
    const latest = Math.max(...children.map(placeOf));
    for (const child of children) {
      const end = child.execution.status;
      // Whether a later child has taken its place after a retry.
      const isReplaced = placeOf(child) < latest;
      // A child that is following up has announced its end, although a person may still be asked.
      if (!hasEnd(child.execution)) problems.push(`S10 '${child.execution.id}' outlives its parent: ${end}`);
      // Whoever reads a lost list takes places beyond it, and another process's read may count (seed 53189).
      const isBeyond = (child.execution.parent?.index ?? 0) >= (record?.children?.count ?? Infinity);
      if (succeeded && status === 'done' && end !== 'succeeded' && !isReplaced && !isBeyond)
        problems.push(`S6 '${step.name}' is done, but ${child.execution.id} is ${end}`);
      if (isReplaced && end === 'succeeded' && !isRepeatedIn(step))
        problems.push(`S6 '${child.execution.id}' has succeeded, and another was started in its place`);
      if (!succeeded && end === 'succeeded' && isToBeUndone(step) && !left)
        problems.push(`S10 ${execution.status}, but ${child.execution.id} stays succeeded`);
    }
  }
  return problems;
}

const isToBeUndone = (step: PlanStep): boolean =>
  step.kind === 'map' ? step.each.undo !== 'none' : step.kind === 'child' && step.undo !== 'none';

/** The child's order among those of the same step: by epoch, then by try. */
const placeOf = ({ execution: { parent } }: Snapshot): number =>
  (parent?.epoch ?? 1) * 1_000 + (parent?.try ?? 1);
