/**
 * Which workflows are paused, as far as one process knows.
 *
 * Owns: how often the record is read. Does not own: the record and what it means
 * (`core/holds/workflow-pause.ts`), the commands (`holds.ts`).
 *
 * Every start asks, and an answer is used for a moment: while starts keep coming, a start costs no call of
 * its own. So a pause takes effect everywhere once that moment is over. If the record cannot be read, nothing
 * is started: otherwise a pause would not be reliable.
 */

import type { PausedStarts, WorkflowPause } from '../core/holds/workflow-pause.ts';
import type { Ports } from '../core/ports.ts';

/** How long an answer is used. */
export const FRESH_MS = 5_000;

export interface KnownPause {
  readonly readAt: number;
  readonly record: Promise<WorkflowPause | undefined>;
}

/**
 * Since when, by whom and why executions of the workflow are born paused; nothing if they are not.
 * @param pauses what the process knows, by workflow
 */
export async function pausedStarts(
  { workflowPauses, clock }: Ports,
  pauses: Map<string, KnownPause>,
  workflow: string,
): Promise<PausedStarts | undefined> {
  if (workflowPauses === undefined) return undefined;
  const now = clock.now();
  let known = pauses.get(workflow);
  // A read that is later than now comes from a clock that was ahead.
  if (known === undefined || now < known.readAt || now - known.readAt >= FRESH_MS) {
    known = { readAt: now, record: workflowPauses.read(workflow) };
    pauses.set(workflow, known);
  }
  try {
    return (await known.record)?.pause;
  } catch (error) {
    if (pauses.get(workflow) === known) pauses.delete(workflow);
    throw error;
  }
}
