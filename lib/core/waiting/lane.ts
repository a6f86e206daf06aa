/**
 * The step that waits for a place in its execution's lane. The lane answers it, as a person answers an
 * approval.
 *
 * Owns: its position in the queue; when it queues, reads the lane again and leaves, and the writes for this;
 * until when it keeps its place. Does not own: the writes at the lane between two decisions, and which
 * execution gets a place (`engine/lanes.ts`).
 *
 * S12 each of its writes is one transaction with the execution, whose wake time is its next check, or the end
 * of its time. N3 a time to check is set once and only renewed: a process that decided from an older record
 * that the execution is far back in the queue meets a conflict. N4 an execution that ends keeps its wake time
 * until its place is handed on: if a process dies meanwhile, a supervisor repeats everything.
 */

import {
  blankStep,
  canMoveStep,
  type DecisionInputs,
  executionAfter,
  stepAfter,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import { laneOf } from '../plan/lane.ts';
import type { LaneStep, Plan } from '../plan/plan.ts';
import { isAdmitted, planSince } from '../records/in-lane.ts';
import type { LaneDone, LaneWork, OwnLane, Queued } from '../records/lane.ts';
import { resumedAt } from '../records/pauses.ts';
import { hasUnannounced, isAsking, type Snapshot } from '../records/snapshot.ts';
import { type Execution, isForward, isTerminal, isUndecided, pauseOf, type Step } from '../records/state.ts';
import { effectOf } from '../step/effect.ts';
import { openWork } from '../step/ready.ts';
import type { Rule } from '../step/rule.ts';
import { timeOverAt } from '../step/within.ts';
import { defined } from '../values/defined.ts';
import type { Failure } from '../values/failure.ts';

/** The highest priority, 9, counts as much as a wait of nine tenths of the step's time. */
const PRIORITIES = 10;

const queuedAt = ({ retries, startedAt }: Execution): number => retries?.at(-1)?.at ?? startedAt;

/** Its position in the queue: its priority and the time that it has waited, as one number. */
export function queuedOf({ withinMs }: LaneStep, execution: Execution): Queued {
  const { id, life, epoch, lane } = execution;
  const place = Math.max(
    0,
    Math.floor(queuedAt(execution) - ((lane?.priority ?? 0) * withinMs) / PRIORITIES),
  );
  return { id, life, epoch, place };
}

const FIRST_CHECK_MS = 5_000;
const MAX_CHECK_MS = 300_000;

/** The longer it waits, the less often it reads its lane again. */
const nextCheckAt = (execution: Execution, now: number): number =>
  now + Math.min(MAX_CHECK_MS, Math.max(FIRST_CHECK_MS, now - queuedAt(execution)));

export const noPlace = ({ lane }: LaneStep): Failure => ({
  code: 'concurrency-timeout',
  message: `it got no place in lane '${lane}' in time ('waitAtMost')`,
});

/** True if it waits in the queue and has been paused since, so that the lane skipped it. */
export const wasResumed = (execution: Execution, { changedAt }: Step): boolean =>
  resumedAt(execution) > changedAt;

/** The write that follows from a read of the lane. */
function seenInLane(
  plan: Plan,
  state: Snapshot,
  event: LaneDone & DecisionInputs & { readonly type: 'lane-seen' },
): Decision {
  const { execution, steps } = state;
  const step = laneOf(plan);
  const { status, lane } = execution;
  if (step === undefined || lane === undefined || event.epoch !== execution.epoch) return nothing();
  const record = steps[step.name] ?? blankStep(step.name, execution);
  const isOpen = isUndecided(status);
  if (!isOpen || !canMoveStep(record.status, 'admit')) return nothing();
  return event.placed
    ? admitted(plan, execution, lane, record, event)
    : queued(plan, step, { ...state, execution }, lane, record, event);
}

/** The write of a place: the execution's time begins now, or after the pause that it is in. */
function admitted(
  plan: Plan,
  execution: Execution,
  known: OwnLane,
  record: Step,
  inputs: DecisionInputs,
): Decision {
  const { now } = inputs;
  const { checkAt: _, ...lane } = known;
  const step = stepAfter(record, 'admit', inputs, { changedAt: now });
  const placedAt = pauseOf(execution)?.at ?? now;
  const placed = executionAfter(execution, 'adopt', inputs, {
    deadlineAt: placedAt + plan.withinMs,
    lane: { ...lane, admitted: execution.epoch, placedAt },
  });
  const note = { what: 'placed', step: record.name };
  return writing(execution.id, { step, execution: placed }, evaluateNext('all'), note);
}

/**
 * Nothing follows from steps in these statuses before their execution has its place. While a retried one
 * waits for another, the end of an earlier round is read (seed 22505), and people are asked (seed 50886).
 */
const AT_REST: ReadonlySet<Step['status']> = new Set(['ready', 'done', 'skipped']);

function queued(
  plan: Plan,
  planStep: LaneStep,
  state: Snapshot,
  lane: OwnLane,
  record: Step,
  event: LaneDone & DecisionInputs & { readonly type: 'lane-seen' },
): Decision {
  const { execution } = state;
  const { now } = event;
  const isNear = event.first || lane.checkAt !== undefined;
  const isNew = record.status === 'ready' || wasResumed(execution, record);
  if (!isNear && !isNew) return nothing();
  const checkAt = isNear ? nextCheckAt(execution, now) : undefined;
  // It has queued since the pause ended, by whichever clock.
  const queuedAgainAt = Math.max(now, resumedAt(execution));
  const step = stepAfter(record, 'queue', event, { changedAt: isNew ? queuedAgainAt : record.changedAt });
  const own: OwnLane = { ...lane, ...defined({ checkAt }) };
  const wakeAt = Math.min(
    checkAt ?? Number.POSITIVE_INFINITY,
    timeOverAt(planStep, state),
    execution.deadlineAt,
  );
  const isQuiet =
    isForward(execution.status) &&
    openWork(plan, state).length === 0 &&
    !isAsking(state) &&
    !hasUnannounced(state) &&
    Object.values(state.steps).every(({ name, status }) => name === step.name || AT_REST.has(status));
  // With open work the wake time is only brought forward, to the check.
  const next = isQuiet ? { wakeAt } : defined({ wakeAt: checkAt });
  const written = executionAfter(execution, 'adopt', event, { lane: own, ...next });
  const note = { what: 'queued', step: record.name };
  const decision = writing(
    execution.id,
    { step, execution: written },
    evaluateNext([record.name]),
    ...(isNew ? [note] : []),
  );
  // Nothing can be due before that: every step waits for the place.
  return isQuiet ? { ...decision, wakeTime: 'as-written' } : decision;
}

/** N1 When neither it nor any execution below it can act any longer, even after a success or an undo. */
export const laneFreeAt = ({ steps: planned, onFailure = [] }: Plan, steps: Snapshot['steps']): number =>
  Math.max(0, ...[...planned, ...onFailure].map((step) => effectOf(step, steps[step.name]).lateUntil));

/** Adds to the write that ends an execution until when it keeps its place, and that write's version. */
export function recordLaneEnd(storedPlan: Plan, state: Snapshot, decision: Decision): Decision {
  const { write } = decision;
  const after = write?.execution;
  if (write === undefined || after?.lane === undefined) return decision;
  if (!isTerminal(after.status) || isTerminal(state.execution.status)) return decision;
  const { checkAt: _, ...lane } = after.lane;
  const steps = write.step === undefined ? state.steps : { ...state.steps, [write.step.name]: write.step };
  const freeAt = Math.max(lane.freeAt ?? 0, laneFreeAt(storedPlan, steps));
  const ended = { ...lane, freeAt, endVersion: after.end?.version ?? after.version };
  return { ...decision, write: { ...write, execution: { ...after, lane: ended } } };
}

/** The fields that a retry keeps: it needs another place. */
export const laneAfterRetry = (lane: OwnLane | undefined): { readonly lane?: OwnLane } => {
  if (lane === undefined) return {};
  const { checkAt: _, endVersion: _end, announced: _said, left: _left, ...kept } = lane;
  return { lane: kept };
};

/** After this time a supervisor takes over from a process that could not reach the lane. */
const AGAIN_MS = 5_000;

function workOf(plan: Plan, state: Snapshot, how: LaneWork['how']): Decision | undefined {
  const { execution } = state;
  const step = laneOf(plan);
  if (step === undefined || execution.lane === undefined) return undefined;
  return nothing({
    kind: 'lane',
    step: step.name,
    how,
    lane: execution.lane.key,
    atMost: step.atMost,
    ...defined({ limitAt: how === 'enter' && isStart(execution) ? planSince(execution) : undefined }),
    own: queuedOf(step, execution),
    isPaused: !isForward(execution.status),
    wasIn: isAdmitted(execution),
    isOver: isTerminal(execution.status),
  });
}

/**
 * True for a first start only: a paused or retried execution may come long after a deployment with another
 * limit.
 */
const isStart = ({ epoch, pauses }: Execution): boolean => epoch === 1 && pauses === undefined;

const isToEnter = (execution: Execution, record: Step | undefined): boolean =>
  isForward(execution.status) &&
  (record === undefined ||
    record.status === 'ready' ||
    (record.status === 'waiting' && wasResumed(execution, record)));

/**
 * Queues for a place, or reads the lane again: at the set time, or after a pause, during which the lane
 * skipped the execution.
 */
export const useLane: Rule = {
  apply: (plan, state, event) => {
    const { execution, steps } = state;
    const step = laneOf(plan);
    if (step === undefined || event.failing?.includes(step.name) === true) return undefined;
    const record = steps[step.name];
    if (isToEnter(execution, record)) return workOf(plan, state, 'enter');
    const isDue = (execution.lane?.checkAt ?? Number.POSITIVE_INFINITY) <= event.now;
    return record?.status === 'waiting' && isDue ? workOf(plan, state, 'check') : undefined;
  },
  dueAt: (plan, { execution, steps }, { readAt }) => {
    const step = laneOf(plan);
    if (step === undefined) return [];
    const record = steps[step.name];
    const checkAt = record?.status === 'waiting' ? execution.lane?.checkAt : undefined;
    const at = isToEnter(execution, record) ? readAt + AGAIN_MS : checkAt;
    if (at === undefined) return [];
    const what = 'its lane is read again';
    return [{ at, step: step.name, coming: () => ({ what, who: 'supervisor' }) }];
  },
  says: { lane: 'it asks its lane for a place' },
};

const isQueued = (execution: Execution): boolean =>
  execution.lane !== undefined && !isAdmitted(execution) && execution.lane.left !== execution.epoch;

/**
 * Makes an execution that never got a place leave the queue before its on-failure steps, which act outside
 * the lane.
 */
export const leaveQueue: Rule = {
  apply: (plan, state, { failing = [] }) => {
    const step = laneOf(plan);
    if (step === undefined || !isQueued(state.execution) || failing.includes(step.name)) return undefined;
    return workOf(plan, state, 'leave');
  },
  dueAt: (plan, { execution }, { readAt }) =>
    laneOf(plan) === undefined || !isQueued(execution) ? [] : [{ at: readAt + AGAIN_MS }],
  says: { lane: 'it leaves the queue of its lane' },
};

/** Leaves the lane once the execution has ended and can no longer act. */
export const leaveLane: Rule = {
  apply: (plan, state, event) => {
    const { lane, wakeAt } = state.execution;
    if (lane === undefined || wakeAt === undefined || event.laneLeft === true) return undefined;
    const isOther = event.by === 'agent' && event.lostRace === true;
    const isFailing = event.failing?.includes(laneOf(plan)?.name ?? '') === true;
    if (isOther || isFailing || (lane.freeAt ?? 0) > event.now) return undefined;
    return workOf(plan, state, 'leave');
  },
  says: { lane: 'its place in the lane is handed on' },
  unread: true,
};

export function decideLane(plan: Plan, state: Snapshot, event: LaneDone & DecisionInputs): Decision {
  if (event.type === 'lane-seen') return seenInLane(plan, state, event);
  const { execution } = state;
  if (isTerminal(execution.status) || execution.lane === undefined)
    return nothing(evaluateNext('all', false));
  const lane: OwnLane = { ...execution.lane, left: execution.epoch };
  const left = executionAfter(execution, 'set-wake-time', event, { lane });
  return writing(execution.id, { execution: left }, evaluateNext('all'));
}

/** The wake time of an execution whose end is announced, while it keeps its place. */
export const staysInLane = (
  { lane }: Execution,
  { laneLeft, now }: Evaluation,
): { readonly wakeAt: number | undefined; readonly lane?: OwnLane } => {
  if (lane === undefined || laneLeft === true) return { wakeAt: undefined };
  return { wakeAt: Math.max(now, lane.freeAt ?? 0), lane: { ...lane, announced: true } };
};

/**
 * Decides about an execution whose end is announced but which has not left its lane; undefined for others.
 */
export function leftAfterEnd(execution: Execution, event: Evaluation): Decision | undefined {
  const { lane } = execution;
  if (lane?.announced !== true) return undefined;
  if (event.laneLeft !== true) return nothing();
  const { announced: _, ...kept } = lane;
  const gone = executionAfter(execution, 'announce', event, { wakeAt: undefined, lane: kept });
  return writing(execution.id, { execution: gone }, IDLE);
}
