/**
 * The rules of an evaluation for steps with child executions: to start, to gather, to retry, to stop.
 *
 * Owns: when each is due. Does not own: the records that are written (`waiting/child.ts`), the order of all
 * rules (`rules.ts`), the effects on other executions (`engine/children.ts`), which precede the write that
 * records them.
 */

import {
  type ChildStep,
  hasChildren,
  isRepeated,
  type MapStep,
  type Plan,
  type PlanStep,
} from '../plan/plan.ts';
import { blankStep, stepAfter, writingBoth, writingStep } from '../decisions/change.ts';
import type { Planned, StopGoal } from '../records/children.ts';
import { type Decision, nothing } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import type { Failure } from '../values/failure.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';
import { isLostFailure, leftOutIn } from '../step/left-out.ts';
import { isFailureUndecided, isPointUnderWay, undoable } from '../step/point-of-no-return.ts';
import { effectOf, hasNoUndo, undoesNothing } from '../step/effect.ts';
import { dependentsClearAt } from '../step/ready.ts';
import { applies, hasOpenChildren, isEnding, isTurn, isUnbegun, mayHaveChildren } from '../step/turn.ts';
import type { Rule } from '../step/rule.ts';
import { FAILED_FOR_TIME, isTimeOver } from '../step/within.ts';
import { childIds, childrenFailure, plannedOf, placesToTake, nextStarts } from '../waiting/child.ts';
import {
  afterTry,
  childrenStopped,
  indexesToStop,
  isCleanEnd,
  MAX_STOPS,
  nextTryBegun,
  staysDone,
  stepOnceStopped,
  tryOf,
} from '../waiting/child-tries.ts';
import { isStartDue } from '../waiting/map.ts';
import { firstRoundAwaits, goesBack, roundBefore } from '../waiting/rounds.ts';
import { waitEndsAt } from '../waiting/waits.ts';
import { roundToRead } from './on-round.ts';

/** Child and map steps, in plan order, except those that the evaluation leaves out. */
const parents = (plan: Plan, { failing = [] }: Evaluation): (ChildStep | MapStep)[] =>
  plan.steps.filter(hasChildren).filter((step) => !failing.includes(step.name));

/** Starts due executions; a list step whose value is not a list fails at once. */
export const startChildren: Rule = {
  apply: (plan, state, event) => {
    if (isFailureUndecided(plan, state)) return undefined;
    for (const step of parents(plan, event)) {
      if (!isTurn(step, state)) continue;
      const record = state.steps[step.name];
      if (isRepeated(step) && step.rounds.first !== undefined && isUnbegun(record)) {
        const first = firstRoundAwaits(step, step.rounds.first, state, event);
        if (first === undefined) continue;
        return writingStep(state, first, first.status === 'failed' ? 'step-failed' : 'round-begun');
      }
      const lost = isUnbegun(record) ? lostIn(step, state) : undefined;
      if (lost !== undefined) return takingPlaces(step, state, lost);
      if (isUnbegun(record) ? !applies(step, state) : record?.status !== 'running') continue;
      // Checked first, because the time to compute the executions grows with the list.
      if (record?.children !== undefined && !isStartDue(step, record.children)) continue;
      const planned = plannedOf(step, state);
      if ('code' in planned) {
        if (step.kind === 'child' && record?.children !== undefined)
          return takingPlaces(step, state, planned);
        const blank = record ?? blankStep(step.name, state.execution);
        const why = { status: 'failed', changedAt: event.now, failure: planned } as const;
        const failed = stepAfter(blank, 'fail', event, why);
        return writingStep(state, failed, 'step-failed');
      }
      const starts = nextStarts(step, planned, record);
      if (starts.length === 0 && !isUnbegun(record)) continue;
      return nothing({ kind: 'start-children', step: step.name, planned, starts });
    }
    return undefined;
  },
  says: {
    'start-children': 'executions of a step are started',
    'step-failed': 'a step fails: what it should run through is not a list',
    'round-begun': 'the first round waits for its message',
  },
};

/**
 * Takes the places of a step's executions, which makes the step fail (S10): a process that has read a value
 * which is lost now may still be creating them, before the step has begun or for a retry or a next round.
 */
function takingPlaces(step: ChildStep | MapStep, state: Snapshot, refused: Failure): Decision {
  const planned = placesToTake(step, state, refused);
  return nothing({ kind: 'start-children', step: step.name, planned, starts: planned.starts });
}

/** Returns the failure if a lost value decides whether and with which executions a step begins. */
function lostIn(step: ChildStep | MapStep, state: Snapshot): Failure | undefined {
  if (state.values === undefined || state.values.lost.size === 0) return undefined;
  const condition = leftOutIn(step.when, state);
  if (condition !== undefined || !applies(step, state)) return condition;
  const planned = plannedOf(step, state);
  return 'code' in planned && isLostFailure(planned) ? planned : undefined;
}

/** Ends a step whose executions have ended; their outputs are gathered first. */
export const endChildren: Rule = {
  apply: (plan, state, event) => {
    for (const step of parents(plan, event)) {
      const record = state.steps[step.name];
      if (record?.children === undefined) continue;
      const left = undoesNothing(state);
      if (undoesRounds(step, record, left)) {
        if (effectOf(step, record).actsUntil > event.now) continue;
        return writingStep(state, roundBefore(record, record.children, event), 'round-undone');
      }
      const stopped = stepOnceStopped(step, record, left, event);
      if (stopped !== undefined) return writingStep(state, stopped, `step-${stopped.status}`);
      if (record.status !== 'running' && !staysDone(step, record, left)) continue;
      const isOverTime = record.children.stop !== undefined;
      if (isOverTime && (isEnding(record.children) || hasOpenChildren(record.children))) continue;
      const failure = childrenFailure(step, state.execution, record, record.children);
      if (failure !== undefined) return afterFailure(step, state, record, failure, event);
      if (hasOpenChildren(record.children)) continue;
      if (isRepeated(step)) {
        const next = roundToRead(plan, step, record, state);
        if (next !== undefined) return nothing(next);
        continue;
      }
      return nothing({ kind: 'gather', step: step.name, ids: childIds(state.execution, record) });
    }
    return undefined;
  },
  dueAt: (plan, state) => {
    const left = undoesNothing(state);
    return plan.steps.flatMap((step) => {
      const record = state.steps[step.name];
      return record !== undefined && undoesRounds(step, record, left)
        ? [
            {
              at: effectOf(step, record).actsUntil,
              step: step.name,
              coming: () => ({ what: 'the round before is undone', who: 'supervisor' as const }),
            },
          ]
        : [];
    });
  },
  says: {
    gather: 'what the executions of a step answered is gathered',
    'step-failed': 'a step fails: one of its executions failed',
    'step-done': 'a step is over: all of its executions are',
    'step-compensated': 'a step is undone: all of its executions are',
    'step-compensation-failed': 'a step cannot be undone: one of its executions could not be',
    'try-failed': 'a try of a child is over, and has left nothing: the next one follows',
    'tries-over': 'no automatic try of a child is left: a person is asked',
    'round-undone': 'a round is undone, and the one before it is next',
  },
};

/** True if the step's successful rounds are undone, one at a time. */
const undoesRounds = (step: PlanStep, record: Step, left: boolean): boolean =>
  isRepeated(step) && !left && !hasNoUndo(step) && goesBack(record);

/**
 * Fails the step; or, while the execution goes forward, begins its next try or asks a person. The latter two
 * writes include the execution's record (S12).
 */
function afterFailure(
  step: ChildStep | MapStep,
  state: Snapshot,
  record: Step,
  failure: Failure,
  event: Evaluation,
): Decision {
  const { execution } = state;
  const { children } = record;
  // A step that failed in time and left no effects needs no stop.
  const isOverTime =
    children?.stop !== undefined ||
    (isTimeOver(step, state, event.readAt) && children !== undefined && isCleanEnd(children));
  const goesOn = step.kind === 'child' && execution.status !== 'compensating' && !isOverTime;
  const permanent = Object.values(children?.ended ?? {}).some((one) => one.permanent === true);
  const why = isOverTime
    ? FAILED_FOR_TIME
    : { failure, ...(permanent ? { isPermanent: true as const } : {}) };
  const after = goesOn
    ? afterTry(step, record, failure, event)
    : stepAfter(record, 'fail', event, { changedAt: event.now, status: 'failed', ...why });
  if (after.status === 'failed') return writingStep(state, after, 'step-failed');
  return writingBoth(state, after, NOTES[after.status] ?? 'step-failed', event, {
    wakeAt: after.retryAt ?? event.now,
  });
}

const NOTES: Readonly<Partial<Record<Step['status'], string>>> = {
  retrying: 'try-failed',
  waiting: 'tries-over',
};

/**
 * Records the next try of a child before anything is created for it. The execution is in the same write, so a
 * process that read it before a pause, a stop or an end cannot begin one (S10).
 */
export const beginTry: Rule = {
  apply: (plan, state, event) => {
    if (isFailureUndecided(plan, state)) return undefined;
    for (const step of parents(plan, event)) {
      const record = state.steps[step.name];
      if (step.kind !== 'child' || record?.status !== 'retrying' || !isTurn(step, state)) continue;
      if ((record.retryAt ?? 0) > event.now) continue;
      return writingBoth(state, nextTryBegun(step, record, event), 'try-begun', event);
    }
    return undefined;
  },
  dueAt: (plan, state) =>
    // No try begins while an outcome is open. The write that resolves the outcome leads to an evaluation.
    isFailureUndecided(plan, state)
      ? []
      : plan.steps.filter(hasChildren).flatMap((step) => {
          const { name } = step;
          const { status, children, retryAt = 0 } = state.steps[name] ?? {};
          return status === 'retrying' && children !== undefined && isTurn(step, state)
            ? [
                {
                  at: retryAt,
                  step: name,
                  coming: () => ({ what: `try ${tryOf(children) + 1} begins`, who: 'supervisor' }),
                },
              ]
            : [];
        }),
  says: { 'try-begun': 'the next try of a child is recorded, and then created' },
};

/**
 * Stops executions under way at once, and undoes successful ones when none of the step's dependents is in
 * effect. A child that is a point of no return comes first: its end decides whether the others are undone or
 * left as they are.
 */
export const stopChildren: Rule = {
  apply: (plan, state, event) => {
    if (isPointUnderWay(plan, state)) return undefined;
    const left = undoesNothing(state);
    const way = left ? 'now' : undoable(plan, state);
    if (way !== 'now' && way !== 'after-stop') return undefined;
    const stoppable = plan.steps
      .filter(hasChildren)
      .filter(({ pointOfNoReturn }) => way === 'now' || pointOfNoReturn === true);
    // The fence comes first: an execution that may be starting now may depend on one that must be undone.
    const starting = stoppable.filter((step) => mayHaveChildren(step, state));
    for (const step of starting.length > 0 ? starting : stoppable) {
      if (event.failing?.includes(step.name) === true) continue;
      const planned = dueToStop(plan, step, state, left, event.now);
      if (planned === undefined) continue;
      return stopping(step, planned, left ? 'leave' : hasNoUndo(step) ? 'stop' : 'recall', state, event);
    }
    return undefined;
  },
  dueAt: (plan, state, { readAt }) =>
    plan.steps.filter(hasChildren).flatMap((step) => {
      const { isOwed } = effectOf(step, state.steps[step.name]);
      const at = isOwed ? dependentsClearAt(plan, step, state) : undefined;
      if (at === undefined || at <= readAt) return [];
      return [
        { at, step: step.name, coming: () => ({ what: 'its executions are stopped', who: 'supervisor' }) },
      ];
    }),
  says: {
    'stop-children': 'executions of a step are stopped',
    'children-stopped': 'the executions of a step are stopped',
  },
};

/** Stops the next executions; once all are stopped, records it. */
function stopping(
  { name: step }: PlanStep,
  planned: Planned,
  goal: StopGoal,
  state: Snapshot,
  event: Evaluation,
): Decision {
  const count = planned.starts.length;
  const wanted = new Set(indexesToStop(count, state.steps[step]?.children, goal));
  const all = planned.starts.filter(({ parent }) => wanted.has(parent.index));
  if (all.length === 0) {
    const stopped = childrenStopped(state, { step, planned, goal, below: count, ended: {} }, event);
    return writingStep(state, stopped, 'children-stopped');
  }
  const below = all.length > MAX_STOPS ? (all[MAX_STOPS]?.parent.index ?? count) : count;
  return nothing({ kind: 'stop-children', step, planned, starts: all.slice(0, MAX_STOPS), goal, below });
}

/**
 * Records that the time of a step is over, so that its executions are stopped and undone. The record comes
 * before the stops, because an end may arrive before the next write. If the executions had succeeded already,
 * later rules decide. `endAtTime` says when this is due.
 */
export const endOverTime: Rule = {
  apply: (plan, state, event) => {
    for (const step of parents(plan, event)) {
      const { children } = state.steps[step.name] ?? {};
      const isOver = (waitEndsAt(step, state) ?? Number.POSITIVE_INFINITY) <= event.now;
      const isToEnd = isOver || isEnding(children);
      const planned = isToEnd ? plannedOf(step, state, children !== undefined) : undefined;
      // If the step cannot have executions at all, it fails for that reason instead.
      if (planned === undefined || 'code' in planned) continue;
      if (children?.stop !== undefined) return stopping(step, planned, 'stop', state, event);
      const begun = { step: step.name, planned, goal: 'stop', below: 0, ended: {} } as const;
      // A process that read the execution before a pause does not know that the pause stops the step's time.
      return writingBoth(state, childrenStopped(state, begun, event), 'children-stopped', event);
    }
    return undefined;
  },
  says: {
    'stop-children': 'executions of a step are stopped',
    'children-stopped': 'the executions of a step are stopped',
  },
};

/**
 * True if a done step now has executions that did not succeed. All had succeeded when it was done, so they
 * were recalled, and the end of one arrived before the recall was recorded.
 */
const wasRecalled = ({ status, children }: Step): boolean =>
  status === 'done' && Object.values(children?.ended ?? {}).some((end) => end.status !== 'succeeded');

const NO_CHILDREN: Planned = { starts: [], items: 0, tolerated: 0 };

function dueToStop(
  plan: Plan,
  step: ChildStep | MapStep,
  state: Snapshot,
  left: boolean,
  now: number,
): Planned | undefined {
  const record = state.steps[step.name];
  const underWay = mayHaveChildren(step, state);
  // A waiting step that left no effects was fenced.
  const ended = record !== undefined && ['done', 'failed', 'waiting', 'retrying'].includes(record.status);
  const open = hasOpenChildren(record?.children);
  const owes = ended && (open || wasRecalled(record) || (!left && effectOf(step, record).isOwed));
  if (!underWay && !owes) return undefined;
  const clearAt = underWay || open ? 0 : dependentsClearAt(plan, step, state);
  if (clearAt === undefined || clearAt > now) return undefined;
  const planned = plannedOf(step, state, true);
  return 'code' in planned ? NO_CHILDREN : planned;
}
