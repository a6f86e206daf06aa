/**
 * How the executions of a step are stopped: all of them, or, when its time is over, those under way.
 *
 * Owns: which must be stopped, the parent's record about it, the step's status once all are. Does not own:
 * when they are stopped (`execution/child-rules.ts`), the writes in them (`engine/children.ts`).
 *
 * S10 stopping puts a canceled execution under every free id, before the record says that anything is
 * stopped: a starter that read an older state finds the place taken. A child that succeeded is undone when
 * its parent is.
 */

import { type ChildStep, isRepeated, type MapStep } from '../plan/plan.ts';
import { blankStep, type DecisionInputs, stepAfter } from '../decisions/change.ts';
import type { ChildrenDone } from '../decisions/events.ts';
import type { Children, StopGoal } from '../records/children.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isForward, type Step } from '../records/state.ts';
import { hasNoUndo } from '../step/effect.ts';
import { hasEarlierRounds, hasOpenChildren, isStopping } from '../step/turn.ts';
import { failedOf, laterEnds } from './child.ts';

/**
 * How many are stopped in one go; then the parent's record is written: a dead process loses no more than
 * that.
 */
export const MAX_STOPS = 50;

/**
 * Executions that may be under way, or that a reader of an older state may still begin, or that succeeded and
 * are recalled. One that was stopped to another end is stopped again.
 */
export function indexesToStop(count: number, children: Children | undefined, goal: StopGoal): number[] {
  const below = children?.stop?.goal === goal ? children.stop.below : 0;
  const isOver = (index: number): boolean => {
    const end = children?.ended[index];
    return index < below || (end !== undefined && !(goal === 'recall' && end.status === 'succeeded'));
  };
  return Array.from({ length: count }, (_, index) => index).filter((index) => !isOver(index));
}

/** Executions of a step that were stopped. */
export type Stopped = Omit<Extract<ChildrenDone, { readonly type: 'stopped' }>, 'type'>;

/**
 * The record after executions were stopped: their step is being undone, or, if its execution goes forward,
 * its time is over, and it fails when all have ended.
 */
export function childrenStopped(
  { execution, steps }: Snapshot,
  { step: name, planned, goal, below, ended }: Stopped,
  inputs: DecisionInputs,
): Step {
  const before = steps[name] ?? blankStep(name, execution);
  const { starts, items, tolerated } = planned;
  const { stop: _, ...known } = before.children ?? { count: starts.length, items, tolerated, ended: {} };
  const isForTime = isForward(execution.status);
  return stepAfter(before, 'stop-children', inputs, {
    status: isForTime ? 'running' : 'compensating',
    ...(isForTime && before.status === 'running' ? {} : { changedAt: inputs.now }),
    children: {
      ...known,
      started: known.count,
      ended: laterEnds(known.ended, ended),
      ...(isForTime || below < starts.length ? { stop: { goal, below } } : {}),
    },
  });
}

/** The step once all its executions are stopped, or nothing while some are being undone. */
export function stepOnceStopped(
  step: ChildStep | MapStep,
  record: Step,
  left: boolean,
  inputs: DecisionInputs,
): Step | undefined {
  const { children } = record;
  if (record.status !== 'compensating' || children === undefined || isStopping(record)) return undefined;
  const kept = left || hasNoUndo(step);
  const ends = Object.values(children.ended).filter(({ status }) => kept || status !== 'succeeded');
  if (ends.length < children.count || staysDone(step, record, left)) return undefined;
  const changes = { changedAt: inputs.now };
  // A step that is left as it is was not undone, even if there was nothing to undo: an operator may retry it.
  const isClean = ends.every(({ clean }) => clean) && !hasEarlierRounds(children);
  if (!left && isClean) return stepAfter(record, 'compensated', inputs, changes);
  if (kept) return stepAfter(record, 'keep-effects', inputs, { ...changes, status: 'failed' });
  const failure = { code: 'compensation-failed', message: 'an execution of its own could not be undone' };
  return stepAfter(record, 'fail-undo', inputs, { ...changes, status: 'compensation-failed', failure });
}

/**
 * All had succeeded before they could be stopped, and their effects stay: the step is done like any other.
 */
export const staysDone = (step: ChildStep | MapStep, record: Step, left: boolean): boolean =>
  record.status === 'compensating' &&
  !isStopping(record) &&
  // Nobody has determined whether the latest round was the last.
  !isRepeated(step) &&
  (left || hasNoUndo(step)) &&
  record.children !== undefined &&
  record.children.count > 0 &&
  !hasOpenChildren(record.children) &&
  failedOf(record.children) <= record.children.tolerated &&
  Object.values(record.children.ended).every(({ status }) => status === 'succeeded');
