/**
 * The end of an execution, as its parent learns it.
 *
 * Owns: what it says: whether anything of it is in effect, failed for good, or may still act. Does not own:
 * what follows for the parent (`child.ts`), when it is notified (`execution/end-rules.ts`).
 */

import type { Plan } from '../plan/plan.ts';
import { wholeOf } from '../plan/on-failure.ts';
import type { ChildEnd } from '../records/children.ts';
import { endVersionOf } from '../records/in-lane.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Execution, Step } from '../records/state.ts';
import { given } from '../values/given.ts';
import { actsNoMoreAt, keepsEffects, standsUnmended } from '../step/ready.ts';
import { actsUntil, failedItems } from '../step/turn.ts';
import { isCanceledKeepingEffects } from './child-retry.ts';
import { lateUntil } from './lane.ts';

/** A failure of it was tolerated, or of an execution of its own, and what it did may be in effect. */
export function mayHaveLeft({ status, mayHaveActed, children }: Step): boolean {
  const ends = Object.values(children?.ended ?? {});
  if (children?.rounds?.left === true || ends.some(({ left }) => left === true))
    return status === 'done' || status === 'tolerated';
  // Rounds that succeeded are only ever left where there is nothing to undo.
  const failed = ends.filter((end) => children?.rounds === undefined || end.status !== 'succeeded');
  return status === 'tolerated' && (mayHaveActed || failed.some(({ clean }) => !clean));
}

/**
 * The notice of an execution that has an end, to its parent: the same before and after its on-failure steps.
 */
export function endOf(plan: Plan, state: Snapshot): ChildEnd {
  const { execution } = state;
  const { status } = execution.end ?? execution;
  const version = endVersionOf(execution);
  const failed = plan.tolerated === undefined ? 0 : failedItems(plan, state).length;
  const records = plan.steps.flatMap(({ name }) => state.steps[name] ?? []);
  const stuck = records.some((step) => step.status === 'compensation-failed');
  const leaves = records.some(mayHaveLeft);
  const stands = plan.steps.some((step) => standsUnmended(step, state.steps[step.name]));
  return {
    status,
    version,
    clean: status !== 'succeeded' && !stuck && !leaves && !stands && !keepsEffects(state),
    ...(failed === 0 || status !== 'succeeded' ? {} : { failed }),
    ...(leaves && status === 'succeeded' ? { left: true as const } : {}),
    ...given({ why: status === 'succeeded' ? undefined : whyOf(execution) }),
    ...(isPermanent(state) ? { permanent: true as const } : {}),
    ...(isCanceledKeepingEffects(state.execution) ? { canceled: true as const } : {}),
    ...stillActing(plan, state),
    ...lateInLane(plan, state),
  };
}

/** Nothing where its parent stopped it, and so knows. */
function whyOf({ cause }: Execution): string | undefined {
  if (cause === undefined || cause.kind === 'parent') return undefined;
  if (cause.kind !== 'failure') return cause.kind === 'cancel' ? 'it was canceled' : 'its time was over';
  const code = cause.failure?.code ?? 'failed';
  return cause.step === undefined ? code : `step '${cause.step}' failed (${code})`;
}

/** The step whose failure is the execution's failed for good. */
const isPermanent = ({ execution: { status, cause }, steps }: Snapshot): boolean =>
  status !== 'succeeded' && cause?.kind === 'failure' && steps[cause.step ?? '']?.isPermanent === true;

/** Nothing follows a success that an attempt could still disturb. */
function stillActing(plan: Plan, { execution, steps }: Snapshot): Pick<ChildEnd, 'actsUntil'> {
  if (execution.status === 'succeeded') return {};
  let until = 0;
  for (const step of plan.steps) {
    const record = steps[step.name];
    if (record !== undefined) until = Math.max(until, actsNoMoreAt(step, record), actsUntil(record.children));
  }
  return until > (execution.end?.at ?? execution.endedAt ?? 0) ? { actsUntil: until } : {};
}

/** The place in the lane above is handed on no sooner. */
function lateInLane(plan: Plan, { execution, steps }: Snapshot): Pick<ChildEnd, 'lateUntil'> {
  if (execution.parent?.inLane !== true) return {};
  const until = lateUntil(wholeOf(plan), steps);
  return until > (execution.end?.at ?? execution.endedAt ?? 0) ? { lateUntil: until } : {};
}
