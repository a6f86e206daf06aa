/**
 * A pause of a workflow: its new executions start paused.
 *
 * Owns: its record, and the first record of an execution that starts during it. Does not own: how it begins
 * and ends (`records/hold.ts`), who reads the record, and how often (`scheduler/paused-starts.ts`), the pause
 * of an execution (`pause.ts`).
 *
 * It changes no existing execution, and executions that started paused stay so after its end: each needs a
 * resume of its own. F1 no process has read an execution that starts paused in any other status, so nothing
 * in it begins. L1 its own pause has a deadline; the workflow's pause has none. Executions that steps start
 * are not affected: their parent is under way.
 */

import type { Plan } from '../plan/plan.ts';
import type { EndedHold, Hold } from '../records/hold.ts';
import type { Execution } from '../records/state.ts';
import { pauseDeadlineAt } from '../records/pauses.ts';
import { nextPause } from './pause.ts';

/** One record for each workflow that was ever paused. */
export interface WorkflowPause {
  readonly workflow: string;
  readonly version: number;
  readonly writeId: string;
  /** Absent while it is not paused. */
  readonly pause?: PausedStarts;
  /** The latest pause that is over. */
  readonly lastPause?: EndedPause;
}

export interface PausedStarts extends Hold {
  /** How long each execution may be paused before a person is asked; absent if the plan decides. */
  readonly withinMs?: number;
}

export type EndedPause = PausedStarts & EndedHold;

/** The record before its first pause. */
export const neverPaused = (workflow: string): WorkflowPause => ({ workflow, version: 0, writeId: '' });

/**
 * The first record of an execution whose workflow is paused. S12 its wake time is its own pause's deadline.
 */
export function bornPaused(plan: Plan, execution: Execution, held: PausedStarts): Execution {
  const { at: workflowPausedAt, ...asked } = held;
  const at = execution.startedAt;
  const pause = nextPause(plan, execution, asked, at);
  return {
    ...execution,
    status: 'paused',
    pauses: [{ ...pause, workflowPausedAt }],
    wakeAt: pauseDeadlineAt(pause),
  };
}
