/**
 * Judges what a retry of a failed execution writes besides the execution (F8, S18), independently of the
 * rules.
 */

import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';

/**
 * Whether a write is a retry with another input for a failed step without effects, the only change of a step
 * after its execution's end.
 */
export function isGivenAnotherInput(
  { execution: before, steps }: Snapshot,
  step: Step,
  execution: Execution | undefined,
): boolean {
  const known = steps[step.name];
  return (
    before.status === 'failed' &&
    execution?.status === 'running' &&
    execution.epoch === before.epoch + 1 &&
    known?.status === 'failed' &&
    !known.mayHaveActed &&
    step.status === 'ready' &&
    step.epoch === execution.epoch &&
    step.givenInput !== undefined
  );
}

/** Counts retries of executions, and uses of inputs from people. */
export function countRetried(kinds: KindCounts, before: Snapshot, { execution, step }: Write): void {
  if (execution?.status === 'running' && execution.epoch > before.execution.epoch)
    kinds.executionRetried += 1;
  if (step?.keyInput === undefined || before.steps[step.name]?.keyInput !== undefined) return;
  kinds.inputGiven += 1;
  if (step.children?.rounds !== undefined) kinds.roundGiven += 1;
}
