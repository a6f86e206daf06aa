/**
 * What follows the end of a step's execution. A child step with a recovery has tries: executions of the same
 * workflow, one after the other; with rounds, they are tries of the current round. Also stops all of them or,
 * when the step's time is over, those under way.
 *
 * Owns: what follows a failed try, the record of the next one, and a try's input; which executions must be
 * stopped, the parent's record about that, the step's status once all are. Does not own: ids and starting
 * (`waiting/child.ts`), the rules that use this (`execution/child-rules.ts`), the writes to the executions
 * (`engine/children.ts`), a retry of the parent (`waiting/child-retry.ts`).
 *
 * S10 a try is recorded in one transaction with its parent's execution, before anything is created under its
 * id: no process that read the state before a pause or a stop begins a try. A try begins without a person
 * only when the previous one is over and has left nothing; otherwise a person is asked, or the step fails. So
 * at most one try of a step has an effect. Stopping puts a canceled execution under every free id, before the
 * record says that anything is stopped: a starter that read an older state finds the place taken. A child
 * that succeeded is undone when its parent is.
 */

import { blankStep, type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import type { ChildrenDone } from '../decisions/events.ts';
import { type ChildStep, isRepeated, type MapStep } from '../plan/plan.ts';
import type { Expr } from '../plan/refs.ts';
import {
  type ChildEnd,
  type Children,
  failedOf,
  laterEnds,
  type RoundsSoFar,
  type StopGoal,
} from '../records/children.ts';
import { roundInputIn } from '../records/large-values.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { type Attempt, isForward, type Step } from '../records/state.ts';
import { keyOfClaim } from '../step/effect-key.ts';
import { effectOf, hasNoUndo, triesActUntil } from '../step/effect.ts';
import { withAttempt } from '../step/history.ts';
import { nextTry, type NextTry, nextWithoutVerdict, variantNumber } from '../step/recovery.ts';
import { hasOpenChildren, isStopping } from '../step/turn.ts';
import { defined } from '../values/defined.ts';
import type { Failure } from '../values/failure.ts';
import type { Json } from '../values/json.ts';

/** The number of the current try; while rounds are undone, the number being undone. */
export const tryOf = (children: Children | undefined): number =>
  children?.rounds?.compensating ?? children?.try ?? 1;

/** True if its latest try is over and has left nothing, so that the next may begin. */
export const isCleanEnd = ({ ended, count }: Children): boolean =>
  Object.keys(ended).length >= count && Object.values(ended).every(({ clean }) => clean);

/** The input of the latest try, unless a person gave one. */
export function inputOfTry(step: ChildStep, record: Step | undefined): Expr {
  let { input } = step;
  const { recovery = [] } = step;
  for (const [at, stage] of recovery.entries())
    if (stage.kind === 'withInput' && variantNumber({ recovery }, at + 1) <= (record?.keyVariant ?? 0))
      input = stage.input;
  return input;
}

/** The input from a person, or from the round before; undefined if it is the step's own. */
export const givenToTry = (record: Step | undefined, state: Snapshot): Json | undefined =>
  record?.keyInput === undefined ? roundInputIn(state, record) : record.keyInput;

/**
 * The record after its latest try has failed.
 * @param refused true if the try never began because its input is not accepted: the same again cannot help
 */
export function afterTry(
  step: ChildStep,
  record: Step,
  failure: Failure,
  inputs: DecisionInputs,
  refused = false,
): Step {
  const { now } = inputs;
  const permanent = refused || record.children?.ended[0]?.permanent === true;
  const changes = { changedAt: now, failure };
  const last = permanent ? { isPermanent: true as const } : {};
  if (step.recovery === undefined)
    return stepAfter(record, 'fail', inputs, { ...changes, ...last, status: 'failed' });
  const next = nextOf(step.recovery, record, inputs, refused);
  const past = {
    ...changes,
    ...withAttempt(record, pastTry(record, failure, now)),
  };
  if (next.kind === 'end') return stepAfter(record, 'fail', inputs, { ...past, ...last, status: 'failed' });
  if (next.kind === 'person')
    return stepAfter(record, 'fail', inputs, { ...past, ...last, status: 'waiting' });
  const { stage } = next;
  return stepAfter(record, 'fail', inputs, {
    ...past,
    status: 'retrying',
    stage,
    ...(stage === record.stage ? {} : { stageAttempt: 0 }),
    retryAt: Math.max(next.retryAt, effectOf(step, record).actsUntil),
  });
}

function nextOf(
  recovery: NonNullable<ChildStep['recovery']>,
  record: Step,
  { now, random }: DecisionInputs,
  refused: boolean,
): NextTry {
  const { stage, stageAttempt, children } = record;
  const end = children?.ended[0];
  // Also true if the placeholder was made by a process that died before it recorded why, or by another one.
  const never = refused || (end !== undefined && isPlaceHolder(end));
  return never || (end !== undefined && mayFollow(end))
    ? nextTry({ recovery }, { stage, stageAttempt, permanent: never || end?.permanent === true }, now, random)
    : nextWithoutVerdict({ recovery });
}

/**
 * True for an execution that never began: its only record says that its place is taken. One that an operator
 * cancels has more.
 */
export const isPlaceHolder = ({ status, version }: Pick<ChildEnd, 'status' | 'version'>): boolean =>
  status === 'canceled' && version === 1;

/**
 * True if another try may follow: this one failed, or its time was over, and it left no effects. Only a
 * person retries an execution that an operator canceled.
 */
const mayFollow = ({ status, clean }: ChildEnd): boolean =>
  clean && (status === 'compensated' || status === 'failed');

const pastTry = (record: Step, failure: Failure, now: number): Attempt => ({
  number: tryOf(record.children),
  mode: 'execute',
  claimedAt: record.changedAt,
  endedAt: now,
  outcome: 'failed',
  failure,
  ...(record.keyVariant === 0 ? {} : { variant: record.keyVariant }),
  ...(record.keyInput === undefined ? {} : { given: true }),
  ...defined({ message: record.children?.rounds?.received?.id }),
});

/**
 * The maximum number of failed tries that are kept; with more, rounds and tries can no longer be
 * distinguished.
 */
const MOST_FAILED = 100;

/** The rounds so far, if the current try has failed and another follows. */
function roundsAfterFailure(children: Children | undefined): RoundsSoFar {
  const { rounds = { done: 0 } } = children ?? {};
  const failed = [...(rounds.failed ?? []), tryOf(children)];
  return { ...rounds, failed: failed.slice(0, MOST_FAILED) };
}

/** The record of an execution under the next number, after a failed try or a successful round. */
export const nextUnderCounter = (
  children: Children | undefined,
  rounds: RoundsSoFar | undefined,
): Children => ({
  count: 1,
  started: 0,
  items: 1,
  tolerated: 0,
  ended: {},
  try: tryOf(children) + 1,
  ...defined({ epoch: children?.epoch, rounds, restartedAfter: children?.restartedAfter }),
  ...triesActUntil(children),
});

/** The record with which the next try begins; the evaluation creates its execution afterwards. */
export function nextTryBegun(step: ChildStep, record: Step, inputs: DecisionInputs): Step {
  const { children } = record;
  return stepAfter(record, 'begin-try', inputs, {
    ...keyOfClaim({ recovery: step.recovery ?? [] }, record),
    changedAt: inputs.now,
    failure: undefined,
    retryAt: undefined,
    stageAttempt: record.stageAttempt + 1,
    children: nextUnderCounter(children, isRepeated(step) ? roundsAfterFailure(children) : undefined),
  });
}

/** The changes if a person says that the latest try has no effect. */
export function vouchedFor({ children }: Step): Pick<StepChanges, 'children'> {
  if (children === undefined) return {};
  const ended = Object.entries(children.ended).map(([index, end]) => [index, { ...end, clean: true }]);
  return { children: { ...children, ended: Object.fromEntries(ended) } };
}

/**
 * How many executions are stopped before the parent's record is written: a process that dies loses no more
 * than that.
 */
export const MAX_STOPS = 50;

/**
 * Returns the indexes of executions that may be under way, that a reader of an older state may still begin,
 * or that succeeded and are recalled. One that was stopped with another goal is stopped again.
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
 * The record after executions were stopped. Their step is being undone; or, if its execution goes forward,
 * the step's time is over, and it fails when all have ended.
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

/** The step once all its executions are stopped; undefined while some are being undone. */
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
  // A step whose effects stay was not undone, even if it had none: an operator may retry it.
  if (!left && effectOf(step, record).is === 'none') return stepAfter(record, 'compensated', inputs, changes);
  if (kept) return stepAfter(record, 'keep-effects', inputs, { ...changes, status: 'failed' });
  const failure = { code: 'compensation-failed', message: 'an execution of its own could not be undone' };
  return stepAfter(record, 'fail-undo', inputs, { ...changes, status: 'compensation-failed', failure });
}

/**
 * True if all executions succeeded before they could be stopped, and their effects stay: the step is then
 * done.
 */
export const staysDone = (step: ChildStep | MapStep, record: Step, left: boolean): boolean =>
  record.status === 'compensating' &&
  !isStopping(record) &&
  // In a repeat it is not known whether the latest round was the last.
  !isRepeated(step) &&
  (left || hasNoUndo(step)) &&
  record.children !== undefined &&
  record.children.count > 0 &&
  !hasOpenChildren(record.children) &&
  failedOf(record.children) <= record.children.tolerated &&
  Object.values(record.children.ended).every(({ status }) => status === 'succeeded');
