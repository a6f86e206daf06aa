/**
 * The commands that pause a workflow, and end that.
 *
 * Owns: repeated commands, two operators at once. Does not own: the record and what it means
 * (`core/holds/workflow-pause.ts`), who reads it (`paused-starts.ts`).
 */

import {
  type PausedStarts,
  type WorkflowPause,
  withPausedWorkflow,
  withResumedWorkflow,
} from '../core/holds/workflow-pause.ts';
import type { WorkflowPauses } from '../core/ports.ts';
import type { Caller } from '../core/values/caller.ts';
import type { DecisionInputs } from '../core/decisions/change.ts';
import { given } from '../core/values/given.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { type Scheduler, workflowOf } from './start.ts';

/** Lost races in a row. */
const MAX_ROUNDS = 10;

type Paused = Pick<WorkflowPause, 'pause' | 'lastPause'>;

/** As it is stored now. */
export async function showPause({ ports }: Scheduler, workflow: string): Promise<Paused> {
  return pausedIn(await ports.workflowPauses?.read(workflow));
}

/**
 * Executions of the workflow that are started from now on are born paused; one that is
 * paused already stays as it is.
 * @throws SteadfastError `unknown-workflow`
 */
export const pauseWorkflow = (
  scheduler: Scheduler,
  workflow: string,
  asked: Omit<PausedStarts, 'at' | 'reason'> & { readonly reason?: string },
): Promise<Paused> =>
  changed(scheduler, workflow, (before, inputs) =>
    withPausedWorkflow(before, workflow, { reason: 'paused by an operator', ...asked }, inputs),
  );

/**
 * Executions of the workflow are born running again. Those that were born paused
 * stay so until each is resumed.
 * @throws SteadfastError `unknown-workflow`
 */
export const resumeWorkflow = (
  scheduler: Scheduler,
  workflow: string,
  { by }: { readonly by?: Caller },
): Promise<Paused> =>
  changed(scheduler, workflow, (before, inputs) => withResumedWorkflow(before, by, inputs));

async function changed(
  scheduler: Scheduler,
  workflow: string,
  change: (before: WorkflowPause | undefined, inputs: DecisionInputs) => WorkflowPause | undefined,
): Promise<Paused> {
  const { ports, pauses } = scheduler;
  workflowOf(scheduler, workflow);
  const records = recordsOf(ports.workflowPauses);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = await records.read(workflow);
    const next = change(before, decisionInputsOf(ports));
    if (next === undefined) return pausedIn(before);
    if ((await records.write(next)) === 'conflict') continue;
    pauses.set(workflow, {
      readAt: ports.clock.now(),
      record: Promise.resolve(next),
    });
    return pausedIn(next);
  }
  throw new Error(`the pause of workflow '${workflow}' changed at every try to change it`);
}

const pausedIn = (record: WorkflowPause | undefined): Paused =>
  given({ pause: record?.pause, lastPause: record?.lastPause });

function recordsOf(records: WorkflowPauses | undefined): WorkflowPauses {
  if (records !== undefined) return records;
  throw new Error('this process has no place for pauses of workflows');
}
