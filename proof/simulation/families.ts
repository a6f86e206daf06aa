/**
 * Finds the child executions of a step by their ids, of all epochs and tries, independently of the parent's
 * record.
 *
 * Owns: a second implementation of these ids. Does not own: judging the executions.
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import { keyPartOf } from '../../lib/core/values/names.ts';
import type { Ledger } from './ledger.ts';
import { acceptedTill } from './oracle-accepted.ts';
import { actedAs } from './oracle-order.ts';

/** The oracle's access to executions other than the written one. */
export interface Others {
  readonly read: (executionId: string) => Snapshot | undefined;
  readonly planOf: (executionId: string) => Plan | undefined;
}

/** How many ids are tried beyond those in the parent's record, enough for short lists. */
const UNKNOWN_TO_PARENT = 8;

export const hasTries = (step: PlanStep): boolean =>
  step.kind === 'child' && (step.recovery !== undefined || step.rounds !== undefined);

/** Children in the order of their starts. @param count how many the parent's record knows */
export function childrenOf(
  { id, epoch }: Pick<Execution, 'id' | 'epoch'>,
  step: PlanStep,
  read: Others['read'],
  count = 0,
): Snapshot[] {
  const found: Snapshot[] = [];
  for (let index = 0; index < Math.max(count, UNKNOWN_TO_PARENT); index += 1)
    for (let of = 1; of <= epoch; of += 1)
      // The next try's execution is created before it is recorded, so tries are searched until one is
      // missing.
      for (let at = 1; at === 1 || hasTries(step); at += 1) {
        const suffix = of === 1 && at === 1 ? '' : `-e${of}t${at}`;
        const child = read(`${id}.${keyPartOf(step.name)}.${index}${suffix}`);
        if (child === undefined) break;
        found.push(child);
      }
  return found;
}

/** The effects of an execution and its descendants in place that must be undone with it. */
export function standsIn(state: Snapshot, { read, planOf }: Others, ledger: Ledger): string[] {
  const { execution, steps } = state;
  return (planOf(execution.id)?.steps ?? []).flatMap((step) => {
    // Skips a child that is not undone with its parent.
    if (step.kind === 'child' && step.undo === 'none' && step.pointOfNoReturn !== true) return [];
    if (step.kind === 'map' && step.each.undo === 'none') return [];
    if (step.kind === 'child' || step.kind === 'map')
      return childrenOf(execution, step, read, steps[step.name]?.children?.count).flatMap((child) =>
        standsIn(child, { read, planOf }, ledger),
      );
    if (step.kind !== 'agent') return [];
    const isOwed = actedAs(step, steps[step.name]).undo !== 'none' || step.pointOfNoReturn === true;
    return isOwed && ledger.isLive(effectKeyOf(execution, step.name)) ? [`${execution.id}.${step.name}`] : [];
  });
}

/**
 * Until when attempts in a step's child executions, at any depth, may act, except recalled ones and those
 * that never acted.
 */
export function actsUntilIn(execution: Execution, step: PlanStep, others: Others): number {
  // Late acts of a successful round are harmless.
  const isHarmless = ({ execution: { status } }: Snapshot): boolean =>
    step.kind === 'child' && step.rounds !== undefined && status === 'succeeded';
  const acting = childrenOf(execution, step, others.read).filter((child) => !isHarmless(child));
  return Math.max(0, ...acting.map((child) => actsUntilOf(child, others)));
}

/** Until when attempts in an execution may act, and in those of its steps. */
export function actsUntilOf({ execution, steps }: Snapshot, others: Others): number {
  let until = 0;
  for (const inner of others.planOf(execution.id)?.steps ?? []) {
    const record = steps[inner.name];
    if (inner.kind === 'agent' && record?.mayHaveActed === true)
      until = Math.max(
        until,
        record.processDeadlineAt + actedAs(inner, record).settleMs,
        acceptedTill(actedAs(inner, record), record),
      );
    if (inner.kind === 'child' || inner.kind === 'map')
      until = Math.max(until, actsUntilIn(execution, inner, others));
  }
  return until;
}

/** Until when a lost process of an execution's own steps may act, also after a success and after an end. */
export function lostActsUntil(plan: Plan | undefined, { steps }: Snapshot): number {
  const planned = [...(plan?.steps ?? []), ...(plan?.onFailure ?? [])];
  return Math.max(
    0,
    ...planned.map((step) => {
      const record = steps[step.name];
      if (step.kind !== 'agent' || record === undefined) return 0;
      const { attempts, leftOut, mayHaveActed, processDeadlineAt } = record;
      const acted = actedAs(step, record);
      const isLost =
        mayHaveActed || leftOut !== undefined || attempts.some(({ outcome }) => outcome === 'unknown');
      return Math.max(isLost ? processDeadlineAt + acted.settleMs : 0, acceptedTill(acted, record));
    }),
  );
}
