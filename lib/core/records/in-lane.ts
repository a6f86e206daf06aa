/**
 * Decides if an execution has its place in a lane, and which places are free.
 *
 * Owns: both decisions. Does not own: the records (`lane.ts`), who gets a place (`engine/lanes.ts`).
 *
 * N1 an entry's place is free only when its epoch has ended and the execution can no longer act, or the
 * execution is gone: one that is being undone, is paused or follows up keeps its place.
 */

import type { LaneEntry } from './lane.ts';
import { type Execution, isTerminal, isUndecided } from './state.ts';

/** True if, by its own record, the execution has its place in this epoch. */
export const isAdmitted = ({ lane, epoch }: Execution): boolean => lane?.admitted === epoch;

/** True if the entry's execution still waits in the queue. Once false for an entry, it stays false. */
export const mayBePlaced = (
  { life, epoch }: LaneEntry,
  execution: Execution | undefined,
): execution is Execution =>
  execution?.life === life &&
  execution.epoch === epoch &&
  !isAdmitted(execution) &&
  isUndecided(execution.status);

/**
 * N2 True if a retried execution waits for another place. An execution acts only in a place, so meanwhile it
 * does not undo earlier work.
 */
export const waitsAgain = (execution: Execution): boolean =>
  execution.lane !== undefined && execution.epoch > 1 && !isAdmitted(execution);

/** N1 True if the entry's place is free. @param execution as it is now, strongly read */
export function isFree(entry: LaneEntry, execution: Execution | undefined, now: number): boolean {
  if (execution === undefined || execution.life !== entry.life) return true;
  const isOver = execution.epoch > entry.epoch || isTerminal(execution.status);
  return isOver && now >= (execution.lane?.freeAt ?? 0);
}

/** When the topmost execution started. All plans below it are parts of its plan, so they are as old. */
export const planSince = ({ parent, startedAt }: Pick<Execution, 'parent' | 'startedAt'>): number =>
  parent?.planSince ?? parent?.since ?? startedAt;

/** The version of the record's end, for code that compares ends. */
export const endVersionOf = ({ end, lane, version }: Execution): number =>
  end?.version ?? lane?.endVersion ?? version;
