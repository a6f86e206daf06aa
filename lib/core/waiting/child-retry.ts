/**
 * The child executions of a failed step when the step's own execution is retried.
 *
 * Owns: whether they can be retried, the step's record about them then, and when a child is the one to retry.
 * Does not own: the retry of an execution (`operators/retry.ts`), the consequences for the child
 * (`engine/children.ts`).
 *
 * S6 a failed child goes on where it failed, under its id and its effect keys, and successful ones stay. S10
 * a child that was canceled and left nothing behind cannot go on: another takes its place, under an id of its
 * own. If an operator canceled a child and left its effects, neither is possible: a person decides about it.
 * With a recovery: if the latest try left something, it goes on where it failed; otherwise the tries begin
 * again (in a repeat, those of the failed round). Earlier notices no longer count: `restartedAfter` has the
 * end's version, and an end counts only if its version is later.
 */

import { type ChildStep, hasChildren, isRepeated, type MapStep, type PlanStep } from '../plan/plan.ts';
import type { ChildEnd, Children } from '../records/children.ts';
import type { Execution, Step } from '../records/state.ts';
import { hasEarlierRounds } from '../step/turn.ts';
import { isCleanEnd, tryOf } from './child-tries.ts';

/** The epoch in the ids of the step's executions: that in which they were first started. */
export const epochOfIds = (record: Step | undefined, execution: Pick<Execution, 'epoch'>): number =>
  record?.children?.epoch ?? record?.epoch ?? execution.epoch;

const endsOf = ({ ended }: Children): ChildEnd[] => Object.values(ended);

/**
 * True if new executions take the places of the old ones: none of these has succeeded or can go on, and none
 * has an effect. For rounds, ask `triesRoundAgain` first.
 */
export const takesNewChildren = (step: ChildStep | MapStep, children: Children): boolean =>
  isCleanEnd(children) &&
  (hasTries(step) ||
    endsOf(children).every(({ status }) => status === 'canceled' || status === 'compensated'));

const hasTries = (step: ChildStep | MapStep): boolean => step.kind === 'child' && step.recovery !== undefined;

/** True if the step is over and a retry of its execution makes its executions go on where they failed. */
export const goesOnWithChildren = (step: PlanStep, { status, children }: Step): step is ChildStep | MapStep =>
  hasChildren(step) &&
  children !== undefined &&
  (status === 'failed' ||
    (status === 'fenced' && ((hasTries(step) && !isCleanEnd(children)) || keepsRounds(children))));

/**
 * True if the current round is retried, under its own number: it has ended and left no effects, while the
 * rounds before it, and the message or input that it began with, stay.
 */
export const triesRoundAgain = (children: Children): boolean => keepsRounds(children) && isCleanEnd(children);

const keepsRounds = (children: Children): boolean => hasEarlierRounds(children) || hasOpened(children);

/** True if the first round has begun with its message, or without one after the time for it. */
export const hasOpened = ({ rounds }: Children): boolean =>
  rounds?.done === 0 &&
  rounds.awaits === undefined &&
  (rounds.input !== undefined || rounds.inputAt !== undefined);

/** Why the child executions cannot be retried; undefined if they can. */
export function restartProblem(
  step: ChildStep | MapStep,
  children: Children,
  { isPermanent }: Pick<Step, 'isPermanent'>,
): string | undefined {
  const ends = endsOf(children);
  if (ends.length < children.count) return 'the ends of some of its executions are not known yet';
  if (takesNewChildren(step, children) || triesRoundAgain(children)) return undefined;
  // Another round follows, unless the reason that stopped the rounds would stop them again.
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

/** The record after the retry: failed children must be started again. */
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
 * The record if the current round is retried under the next number. The end of the old execution stays
 * recorded, because that one never goes on: a stop that comes before the next number is recorded has nothing
 * to wait for.
 */
export function triedAgain(record: Step, { stop: _over, ...children }: Children): Children {
  return { ...children, epoch: children.epoch ?? record.epoch };
}

/** True if an operator canceled it and its effects stayed: it does not go on when its parent does. */
export const isCanceledKeepingEffects = ({ status, end, cause }: Execution): boolean =>
  (end?.status ?? status) === 'failed' && cause?.kind === 'cancel';

/** Returns the version of the end after which the execution must be retried, or was. */
export const restartedAfter = (children: Children | undefined, index: number): number | undefined =>
  children?.restartedAfter?.[tryOf(children) + index];

/** The version of the end that the parent knows: only an end with a later version is new. */
export const knownVersion = (children: Children | undefined, index: number): number =>
  Math.max(children?.ended[index]?.version ?? 0, restartedAfter(children, index) ?? 0);

/**
 * True if the child has failed and was not retried since its parent learned of that; only the write that
 * announced its end may have followed. The end of a child with on-failure steps has a version of its own,
 * which later writes of those steps did not change.
 * @param endVersion the child's version at the end that the parent knows
 */
export const isToGoOn = ({ status, version, end, lane }: Execution, endVersion: number): boolean =>
  end === undefined
    ? status === 'failed' &&
      (lane?.endVersion === undefined ? version <= endVersion + 1 : lane.endVersion === endVersion)
    : end.status === 'failed' && end.version === endVersion;
