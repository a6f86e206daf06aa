/**
 * The end of an execution, as its parent is notified of it.
 *
 * Owns: whether an effect stays, whether the failure is for good, and until when it may act. Does not own:
 * what follows for the parent (`child.ts`), when it is notified (`execution/end-rules.ts`).
 */

import type { Plan } from '../plan/plan.ts';
import { storedPlanOf } from '../plan/on-failure.ts';
import type { ChildEnd } from '../records/children.ts';
import { endVersionOf } from '../records/in-lane.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Execution } from '../records/state.ts';
import { defined } from '../values/defined.ts';
import { effectOf, undoesNothing } from '../step/effect.ts';
import { failedItems } from '../step/turn.ts';
import { isCanceledKeepingEffects } from './child-retry.ts';
import { laneFreeAt } from './lane.ts';

/** The notice of an ended execution to its parent; its on-failure steps do not change it. */
export function endOf(plan: Plan, state: Snapshot): ChildEnd {
  const { execution, steps } = state;
  const { status } = execution.end ?? execution;
  const version = endVersionOf(execution);
  const failed = plan.tolerated === undefined ? 0 : failedItems(plan, state).length;
  const effects = plan.steps.map((step) => effectOf(step, steps[step.name]));
  const leaves = effects.some(({ isLeft }) => isLeft);
  const actsUntil = Math.max(0, ...effects.map((effect) => effect.actsUntil));
  const after = (at: number): number | undefined =>
    at > (execution.end?.at ?? execution.endedAt ?? 0) ? at : undefined;
  return {
    status,
    version,
    clean: status !== 'succeeded' && !leaves && !undoesNothing(state),
    ...(failed === 0 || status !== 'succeeded' ? {} : { failed }),
    ...(leaves && status === 'succeeded' ? { left: true as const } : {}),
    ...defined({ why: status === 'succeeded' ? undefined : whyOf(execution) }),
    ...(isPermanent(state) ? { permanent: true as const } : {}),
    ...(isCanceledKeepingEffects(state.execution) ? { canceled: true as const } : {}),
    ...defined({
      // Work that follows a success waits until no attempt can disturb it.
      actsUntil: status === 'succeeded' ? undefined : after(actsUntil),
      // A lane above never hands its place on before this time.
      lateUntil: execution.parent?.inLane === true ? after(laneFreeAt(storedPlanOf(plan), steps)) : undefined,
    }),
  };
}

/** Why it ended; undefined if its parent stopped it, and so knows. */
function whyOf({ cause }: Execution): string | undefined {
  if (cause === undefined || cause.kind === 'parent') return undefined;
  if (cause.kind !== 'failure') return cause.kind === 'cancel' ? 'it was canceled' : 'its time was over';
  const code = cause.failure?.code ?? 'failed';
  return cause.step === undefined ? code : `step '${cause.step}' failed (${code})`;
}

/** True if a failed step ended the execution, and failed for good. */
const isPermanent = ({ execution: { status, cause }, steps }: Snapshot): boolean =>
  status !== 'succeeded' && cause?.kind === 'failure' && steps[cause.step ?? '']?.isPermanent === true;
