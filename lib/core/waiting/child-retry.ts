/**
 * The executions of a step that failed, once the step's own execution is tried again.
 *
 * Owns: whether they can be, what the step's record says of them then, and when a child is the one that
 * is to be tried again. Does not own: the retry of an execution (`operators/retry.ts`), the effect on
 * the child (`engine/children.ts`).
 *
 * S6 a child that failed goes on where it failed, under its id and its effect keys, and what has succeeded
 * stays as it is. S10 one that was canceled and left nothing behind cannot go on: another takes its place,
 * under an id of its own. One that an operator canceled and left as it was has neither: what becomes of that
 * is for a person to say. Of a step with a recovery the latest try goes on where it failed if it left
 * something; else the tries begin again, of rounds those of the round that failed. An earlier notice counts
 * no more: `restartedAfter` keeps the end's version, and an end counts only if its version is later.
 */

import { type ChildStep, hasChildren, isRepeated, type MapStep, type PlanStep } from '../plan/plan.ts';
import type { ChildEnd, Children } from '../records/children.ts';
import type { Execution, Step } from '../records/state.ts';
import { hasEarlierRounds } from '../step/turn.ts';
import { isCleanEnd, tryOf } from './child-tries.ts';

/** The epoch that is a part of the ids of the step's executions: that in which they were first started. */
export const epochOfIds = (record: Step | undefined, execution: Pick<Execution, 'epoch'>): number =>
  record?.children?.epoch ?? record?.epoch ?? execution.epoch;

const endsOf = ({ ended }: Children): ChildEnd[] => Object.values(ended);

/**
 * None of them succeeded or can go on, and nothing of them is in effect: others take their places. Of rounds
 * `triesRoundAgain` is asked first.
 */
export const takesNewChildren = (step: ChildStep | MapStep, children: Children): boolean =>
  isCleanEnd(children) &&
  (hasTries(step) ||
    endsOf(children).every(({ status }) => status === 'canceled' || status === 'compensated'));

const hasTries = (step: ChildStep | MapStep): boolean => step.kind === 'child' && step.recovery !== undefined;

/** The step is over, and a retry of its execution has its executions go on where they failed. */
export const goesOnWithChildren = (step: PlanStep, { status, children }: Step): step is ChildStep | MapStep =>
  hasChildren(step) &&
  children !== undefined &&
  (status === 'failed' ||
    (status === 'fenced' && ((hasTries(step) && !isCleanEnd(children)) || hasEarlierRounds(children))));

/**
 * The round at hand is over and has left nothing, and those before it stay: it is tried again, under a
 * number of its own.
 */
export const triesRoundAgain = (children: Children): boolean =>
  hasEarlierRounds(children) && isCleanEnd(children);

/** Why they cannot be tried again, or nothing. */
export function restartProblem(
  step: ChildStep | MapStep,
  children: Children,
  { isPermanent }: Pick<Step, 'isPermanent'>,
): string | undefined {
  const ends = endsOf(children);
  if (ends.length < children.count) return 'the ends of some of its executions are not known yet';
  if (takesNewChildren(step, children) || triesRoundAgain(children)) return undefined;
  // Another round follows, unless what stopped them would again.
  if (isRepeated(step) && ends.every(({ status }) => status === 'succeeded'))
    return isPermanent === true ? 'its rounds have succeeded, and would answer the same' : undefined;
  const stopped = ends.find(({ status }) => status !== 'failed' && status !== 'succeeded');
  if (stopped !== undefined) return `some of its executions were stopped (${stopped.status})`;
  if (ends.some(({ canceled }) => canceled === true))
    return 'an operator canceled one of its executions without an undo';
  return ends.some(({ status }) => status === 'failed')
    ? undefined
    : 'its executions have succeeded, and would answer the same';
}

/** The record as it counts then: children that failed must be started again. */
export function childrenRestarted(record: Step, children: Children): Children {
  const failed = Object.entries(children.ended).filter(([, { status }]) => status === 'failed');
  const ended = Object.entries(children.ended).filter(([, { status }]) => status !== 'failed');
  const versions = failed.map(([index, { version }]) => [tryOf(children) + Number(index), version] as const);
  const { stop: _, ...kept } = children;
  return {
    ...kept,
    epoch: children.epoch ?? record.epoch,
    started: Math.min(children.started, ...failed.map(([index]) => Number(index))),
    ended: Object.fromEntries(ended),
    restartedAfter: { ...children.restartedAfter, ...Object.fromEntries(versions) },
  };
}

/**
 * The record as it counts where the round at hand is tried again. Its end stays known, for it never goes on:
 * a stop before the next number is recorded waits for nothing.
 */
export function triedAgain(record: Step, { stop: _over, ...children }: Children): Children {
  return { ...children, epoch: children.epoch ?? record.epoch };
}

/** An operator canceled it, and it ended as it was: it does not go on because its parent does. */
export const isCanceledKeepingEffects = ({ status, end, cause }: Execution): boolean =>
  (end?.status ?? status) === 'failed' && cause?.kind === 'cancel';

/** The version of the end after which it is tried again, or was. */
export const restartedAfter = (children: Children | undefined, index: number): number | undefined =>
  children?.restartedAfter?.[tryOf(children) + index];

/** The version that an end must be later than to be news. */
export const knownVersion = (children: Children | undefined, index: number): number =>
  Math.max(children?.ended[index]?.version ?? 0, restartedAfter(children, index) ?? 0);

/**
 * The child has failed and was not tried again since its parent learned of that: only the write that
 * announced its end may have come after. A child with on-failure steps names the end it has: what they wrote
 * later changed nothing of it.
 * @param endVersion of the child's record, at the end that the parent knows
 */
export const isToGoOn = ({ status, version, end, lane }: Execution, endVersion: number): boolean =>
  end === undefined
    ? status === 'failed' &&
      (lane?.endVersion === undefined ? version <= endVersion + 1 : lane.endVersion === endVersion)
    : end.status === 'failed' && end.version === endVersion;
