/**
 * The rules of an evaluation for steps that no agent performs: time that has passed, executions to start, to gather, to stop.
 *
 * Owns: when each is due. Does not own: what is written (`waiting/timer.ts`, `waiting/child.ts`), the order of all rules
 * (`rules.ts`), the effects on other executions (`engine/children.ts`), which come before the write that records them.
 */

import { type ChildStep, hasChildren, type MapStep, type Plan, type PlanStep } from '../plan/plan.ts';
import type { Rule } from '../plan/rule.ts';
import { blankStep, executionAfter, type ExecutionChanges, stepAfter } from '../records/change.ts';
import type { Children, Family } from '../records/children.ts';
import {
  alsoAffected,
  type Decision,
  evaluateNext,
  type Next,
  nothing,
  writing,
} from '../records/decision.ts';
import type { Evaluation } from '../records/events.ts';
import type { Failure } from '../records/failure.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isForward, type Step } from '../records/state.ts';
import { failureWaits, isNearNoReturn, wayBack } from '../step/point-of-no-return.ts';
import { dependentsClearAt, isKept, keepsEffects, needsUndo, openWork } from '../step/ready.ts';
import { applies, hasOpenChildren, isEnding, isTurn, isUnbegun, mayHaveChildren } from '../step/turn.ts';
import { FAILED_FOR_TIME, isTimeOver } from '../step/within.ts';
import {
  childIds,
  childrenFailure,
  childrenOverTime,
  childrenStopped,
  familyOf,
  indexesToStop,
  MAX_STOPS,
  nextStarts,
  staysDone,
  stepOnceStopped,
} from '../waiting/child.ts';
import { afterTry, isCleanEnd, nextTryBegun } from '../waiting/child-tries.ts';
import { isStartDue } from '../waiting/map.ts';
import { endsAt, externalTimes, passTime } from '../waiting/timer.ts';

const written = (state: Snapshot, event: Evaluation, step: Step, what: string): Decision =>
  writing(state.execution.id, { step }, evaluateNext(alsoAffected(event.affected, step.name)), {
    what,
    step: step.name,
  });

export const passedTime: Rule = (plan, state, event) => {
  const step = passTime(plan, state, event);
  return step && written(state, event, step, `step-${step.status}`);
};

/**
 * S12 what waits for a time may be due before anything that an agent writes, and so before the wake time: a wait or a callback
 * whose turn has come, or what an attempt that met a dead service left to be sent again. A supervisor's look says so with
 * its own write; whoever else has brought it about brings the wake time forward.
 */
export const wakeForTime: Rule = (plan, state, event) => {
  const { execution } = state;
  if (event.by === 'supervisor' || execution.wakeAt === undefined) return undefined;
  const untilAt = Math.min(...externalTimes(plan, state), ...deferredTimes(plan, state));
  if (untilAt >= execution.wakeAt) return undefined;
  const woken = executionAfter(execution, 'set-wake-time', event, { wakeAt: untilAt });
  return writing(execution.id, { execution: woken }, evaluateNext(event.affected));
};

const deferredTimes = (plan: Plan, state: Snapshot): number[] =>
  Object.values(state.steps).some(({ deferred }) => deferred !== undefined)
    ? openWork(plan, state).flatMap(({ deferred, dueAt }) => (deferred === undefined ? [] : [dueAt]))
    : [];

/** Child and map steps, in plan order, but for those that the evaluation passes over. */
const parents = (plan: Plan, { passOver = [] }: Evaluation): (ChildStep | MapStep)[] =>
  plan.steps.filter(hasChildren).filter((step) => !passOver.includes(step.name));

/** Starts what is to be started; a list that is none fails its step at once. */
export const startChildren: Rule = (plan, state, event) => {
  if (!isForward(state.execution.status) || failureWaits(plan, state)) return undefined;
  for (const step of parents(plan, event)) {
    if (!isTurn(step, state)) continue;
    const record = state.steps[step.name];
    if (isUnbegun(record) ? !applies(step, state) : record?.status !== 'running') continue;
    // Asked first: to say what is to be started takes as long as the list.
    if (record?.children !== undefined && !isStartDue(step, record.children)) continue;
    const family = familyOf(step, state);
    if ('code' in family) {
      const blank = record ?? blankStep(step.name, state.execution);
      const failed = stepAfter(blank, 'fail', event, { changedAt: event.now, failure: family });
      return written(state, event, failed, 'step-failed');
    }
    const starts = nextStarts(step, family, record);
    if (starts.length === 0 && !isUnbegun(record)) continue;
    return nothing({ kind: 'start-children', step: step.name, family, starts });
  }
  return undefined;
};

/** A step whose executions have ended is over; what they answered is gathered first. */
export const endChildren: Rule = (plan, state, event) => {
  for (const step of parents(plan, event)) {
    const record = state.steps[step.name];
    if (record?.children === undefined) continue;
    const left = keepsEffects(state);
    const stopped = stepOnceStopped(step, record, left, event);
    if (stopped !== undefined) return written(state, event, stopped, `step-${stopped.status}`);
    if (record.status !== 'running' && !staysDone(step, record, left)) continue;
    const isOverTime = record.children.overTime !== undefined;
    if (isOverTime && (isEnding(record.children) || hasOpenChildren(record.children))) continue;
    const failure = childrenFailure(step, state.execution, record, record.children);
    if (failure !== undefined) return afterFailure(step, state, record, failure, event);
    if (hasOpenChildren(record.children)) continue;
    return nothing({ kind: 'gather', step: step.name, ids: childIds(state.execution, record) });
  }
  return undefined;
};

/** It has failed; or, on the way forward, its next try follows or a person is asked: neither without the execution's record (S12). */
function afterFailure(
  step: ChildStep | MapStep,
  state: Snapshot,
  record: Step,
  failure: Failure,
  event: Evaluation,
): Decision {
  const { execution } = state;
  const { children } = record;
  // One that has failed by itself and has left nothing needs no stopping.
  const isOverTime =
    children?.overTime !== undefined ||
    (isTimeOver(step, state, event.readAt) && children !== undefined && isCleanEnd(children));
  const goesOn = step.kind === 'child' && execution.status !== 'compensating' && !isOverTime;
  const permanent = Object.values(children?.ended ?? {}).some((one) => one.permanent === true);
  const why = isOverTime
    ? FAILED_FOR_TIME
    : { failure, ...(permanent ? { isPermanent: true as const } : {}) };
  const after = goesOn
    ? afterTry(step, record, failure, event)
    : stepAfter(record, 'fail', event, { changedAt: event.now, ...why });
  const decision = written(state, event, after, NOTES[after.status] ?? 'step-failed');
  if (after.status === 'failed') return decision;
  return withExecution(decision, state, event, { wakeAt: after.retryAt ?? event.now });
}

/**
 * One write with the execution, which fails if that was paused, stopped or ended since it was read.
 * @param changes when to evaluate it, if sooner than after any write
 */
function withExecution(
  decision: Decision,
  { execution }: Snapshot,
  event: Evaluation,
  changes: Pick<ExecutionChanges, 'wakeAt'> = {},
): Decision {
  const woken = executionAfter(execution, 'set-wake-time', event, changes);
  return { ...decision, write: { ...decision.write, executionId: execution.id, execution: woken } };
}

const NOTES: Readonly<Partial<Record<Step['status'], string>>> = {
  retrying: 'try-failed',
  waiting: 'tries-over',
};

/**
 * Records the next try of a child, before anything is created for it. One write with the execution: whoever read it before a
 * pause, a stop or an end begins none (S10).
 */
export const beginTry: Rule = (plan, state, event) => {
  const { execution } = state;
  if (!isForward(execution.status) || failureWaits(plan, state)) return undefined;
  for (const step of parents(plan, event)) {
    const record = state.steps[step.name];
    if (step.kind !== 'child' || record?.status !== 'retrying' || !isTurn(step, state)) continue;
    if ((record.retryAt ?? 0) > event.now) continue;
    const decision = written(state, event, nextTryBegun(step, record, event), 'try-begun');
    return withExecution(decision, state, event);
  }
  return undefined;
};

/**
 * What is under way is stopped at once; what has succeeded is undone when nothing that depends on it is in effect. A child
 * that is a point of no return comes first: whether the others are undone or left as they are follows from how it ended.
 */
export const stopChildren: Rule = (plan, state, event) => {
  if (state.execution.status !== 'compensating' || isNearNoReturn(plan, state)) return undefined;
  const left = keepsEffects(state);
  const way = left ? 'free' : wayBack(plan, state);
  if (way !== 'free' && way !== 'stoppable') return undefined;
  const families = plan.steps
    .filter(hasChildren)
    .filter(({ pointOfNoReturn }) => way === 'free' || pointOfNoReturn === true);
  // The fence comes first: what may be starting at this moment may depend on what is to be undone.
  const starting = families.filter((step) => mayHaveChildren(step, state));
  for (const step of starting.length > 0 ? starting : families) {
    if (event.passOver?.includes(step.name) === true) continue;
    const record = state.steps[step.name];
    const family = dueToStop(plan, step, state, left, event.now);
    if (family === undefined) continue;
    const how = { undo: !left, recall: !left && !isKept(step) };
    const stopping = nextStops(step, family, record?.children, how);
    if (stopping !== undefined) return nothing(stopping);
    const stopped = childrenStopped(state, allOf(step, family), event);
    return written(state, event, stopped, 'children-stopped');
  }
  return undefined;
};

/** The executions that are stopped next, or nothing when all are. */
function nextStops(
  { name: step }: PlanStep,
  family: Family,
  children: Children | undefined,
  how: { readonly undo: boolean; readonly recall: boolean },
): Next | undefined {
  const count = family.starts.length;
  const wanted = new Set(indexesToStop(count, children, how.recall));
  const all = family.starts.filter(({ parent }) => wanted.has(parent.index));
  if (all.length === 0) return undefined;
  const below = all.length > MAX_STOPS ? (all[MAX_STOPS]?.parent.index ?? count) : count;
  return { kind: 'stop-children', step, family, starts: all.slice(0, MAX_STOPS), ...how, below };
}

const allOf = ({ name: step }: PlanStep, family: Family) => ({
  step,
  family,
  started: family.starts.length,
  ended: {},
});

/**
 * The time of a step is over: what belongs to it is stopped and undone, what has succeeded before is left to what follows. That is
 * recorded first, for an end may be told before the next write.
 */
export const endOverTime: Rule = (plan, state, event) => {
  if (!isForward(state.execution.status)) return undefined;
  for (const step of parents(plan, event)) {
    const { children } = state.steps[step.name] ?? {};
    const isOver = (endsAt(step, state) ?? Number.POSITIVE_INFINITY) <= event.now;
    const family = isOver || isEnding(children) ? familyOf(step, state) : undefined;
    // What can have no executions fails for that.
    if (family === undefined || 'code' in family) continue;
    const below = children?.overTime;
    const known = children && below !== undefined ? { ...children, stopped: below } : undefined;
    const stopping = known && nextStops(step, family, known, { undo: true, recall: false });
    if (stopping !== undefined) return nothing(stopping);
    const over = { ...allOf(step, family), ...(known === undefined ? { started: 0 } : {}) };
    const decision = written(state, event, childrenOverTime(state, over, event), 'children-stopped');
    // Whoever read it before a pause does not know that its time stands still.
    return known === undefined ? withExecution(decision, state, event) : decision;
  }
  return undefined;
};

/**
 * Of a step that was done all executions had succeeded: another end comes of stopping them, and was told before their
 * stopping was recorded.
 */
const wasRecalled = ({ status, children }: Step): boolean =>
  status === 'done' && Object.values(children?.ended ?? {}).some((end) => end.status !== 'succeeded');

const NOBODY: Family = { starts: [], items: 0, tolerated: 0 };

function dueToStop(
  plan: Plan,
  step: ChildStep | MapStep,
  state: Snapshot,
  left: boolean,
  now: number,
): Family | undefined {
  const record = state.steps[step.name];
  const underWay = mayHaveChildren(step, state);
  // One that waits and has left nothing was fenced.
  const ended = record !== undefined && ['done', 'failed', 'waiting'].includes(record.status);
  const open = hasOpenChildren(record?.children);
  const owes = ended && (open || wasRecalled(record) || (!left && needsUndo(step, record)));
  if (!underWay && !owes) return undefined;
  const clearAt = underWay || open ? 0 : dependentsClearAt(plan, step, state);
  if (clearAt === undefined || clearAt > now) return undefined;
  const family = familyOf(step, state);
  return 'code' in family ? NOBODY : family;
}
