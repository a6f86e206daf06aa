/**
 * One process's copy of the pauses of workflows.
 *
 * Owns: how often the record is read. Does not own: the record and its meaning
 * (`core/holds/workflow-pause.ts`), the commands (`holds.ts`).
 *
 * Every start asks, and uses an answer for a moment: while starts keep coming, none costs a call of its own.
 * A pause takes effect everywhere once that moment is over. If the record cannot be read, nothing starts, or
 * a pause would not be reliable.
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
 * Returns the pause with which executions of the workflow start now; undefined if there is none.
 * @param pauses the pauses that the process has read, by workflow
 */
export async function pausedStarts(
  { workflowPauses, clock }: Ports,
  pauses: Map<string, KnownPause>,
  workflow: string,
): Promise<PausedStarts | undefined> {
  if (workflowPauses === undefined) return undefined;
  const now = clock.now();
  let known = pauses.get(workflow);
  // If the last read is later than now, the clock was ahead.
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
