/**
 * The point of no return: once such a step is done there is no way back, only forward.
 *
 * Owns: whether an execution can still be undone. Does not own: what a rule does where it cannot (`stop.ts`, `incidents.ts`).
 *
 * A step that may have acted counts as past the point until it is certain that it did not, so that nothing that belongs to
 * a step which cannot be taken back is ever undone by a machine. L1 `open` does not last: an attempt ends with its lease,
 * probes and retries with their ladder, a question with its deadline.
 */

import type { Plan, PlanStep } from './plan.ts';
import { isForward, isHeld, openIncidents, type Snapshot, type Step } from './state.ts';

/** `open`: whether the point is passed is not known yet, but will be. */
export type WayBack = 'free' | 'open' | 'closed';

/** @param except a step whose own outcome is the question */
export function wayBack(plan: Plan, state: Snapshot, except?: string): WayBack {
  let way: WayBack = 'free';
  for (const step of plan.steps) {
    if (step.pointOfNoReturn !== true || step.name === except) continue;
    const of = wayBackBehind(state.steps[step.name]);
    if (of === 'closed') return 'closed';
    if (of === 'open') way = 'open';
  }
  return way;
}

function wayBackBehind(record: Step | undefined): WayBack {
  if (record === undefined) return 'free';
  if (record.status === 'done') return 'closed';
  if (isHeld(record)) return record.mode === 'undo' ? 'free' : 'open';
  if (!record.mayHaveActed) return 'free';
  return record.status === 'failed' || record.status === 'sealed' ? 'closed' : 'open';
}

/** Somebody works on a step that cannot be taken back. */
export const isNearNoReturn = (plan: Plan, state: Snapshot): boolean =>
  plan.steps.some((step) => {
    const record = state.steps[step.name];
    return step.pointOfNoReturn === true && isHeld(record) && record.mode !== 'undo';
  });

/**
 * Its time ends nothing any more: a person is asked then, unless one is asked something already. While somebody works on
 * such a step it may still turn out that there is a way back.
 */
export const isAskedAtDeadline = (plan: Plan, state: Snapshot): boolean =>
  isForward(state.execution.status) &&
  wayBack(plan, state) !== 'free' &&
  !isNearNoReturn(plan, state) &&
  openIncidents(state).length === 0;

export const mayBePast = (step: PlanStep, record: Step | undefined): boolean =>
  step.pointOfNoReturn === true && record?.mayHaveActed === true;

/** A step has failed, and what that means is decided when the open outcome is known. Until then nothing else begins. */
export const failureWaits = (plan: Plan, state: Snapshot): boolean =>
  plan.steps.some((step) => state.steps[step.name]?.status === 'failed') && wayBack(plan, state) === 'open';

/** The step that closes the way, or may, for the words of a refusal. */
export const lastPoint = (plan: Plan, state: Snapshot): PlanStep | undefined =>
  plan.steps.find(
    (step) => step.pointOfNoReturn === true && wayBackBehind(state.steps[step.name]) !== 'free',
  );
