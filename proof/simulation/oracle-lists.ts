/**
 * Judges whole lists: the failed items of all parts against the tolerance.
 *
 * Owns: S20 of a list at the end of its step, computed from the plan and the parts' own records, not from the
 * parent's. Does not own: the failures of single items (`oracle-tolerate.ts`).
 */

import type { MapStep, Plan } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { childrenOf, type Others } from './families.ts';
import type { KindCounts } from './kinds.ts';

/** How many items may fail. @param items the number of items of the whole list */
function mayFailOf({ tolerate }: MapStep, items: number): number {
  if ('items' in tolerate) return tolerate.items;
  let most = 0;
  while ((most + 1) * 100 <= tolerate.percent * items) most += 1;
  return most;
}

export function judgeList(
  problems: string[],
  plan: Plan,
  { execution, steps }: Snapshot,
  { step: after }: Write,
  { read, planOf }: Others,
  kinds: KindCounts,
): void {
  const step = plan.steps.find(({ name }) => name === after?.name);
  const known = steps[after?.name ?? ''];
  if (step?.kind !== 'map' || after === undefined || known?.status !== 'running') return;
  const isTooMany = after.status === 'failed' && after.failure?.code === 'items-failed';
  if (after.status !== 'done' && !isTooMany) return;
  const latest = after.children?.epoch ?? after.epoch;
  const parts = childrenOf(execution, step, read, after.children?.count).filter(
    (part) => (part.execution.parent?.epoch ?? 1) === latest,
  );
  const failedIn = parts.map(
    (part) => Object.values(part.steps).filter(({ status }) => status === 'tolerated').length,
  );
  const items = parts.reduce((sum, part) => sum + (planOf(part.execution.id)?.steps.length ?? 0), 0);
  const failed = failedIn.reduce((sum, count) => sum + count, 0);
  const allowed = mayFailOf(step, items);
  if (after.status === 'done' && failed > allowed)
    problems.push(`S20 '${step.name}' is done with ${failed} of ${items} items failed, and ${allowed} may`);
  if (isTooMany && failed <= allowed)
    problems.push(
      `S20 '${step.name}' has failed with ${failed} of ${items} items failed, and ${allowed} may`,
    );
  if (failedIn.filter((count) => count > 0).length > 1) kinds.failedInParts += 1;
}
