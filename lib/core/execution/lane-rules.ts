/**
 * The rules of an evaluation for an execution in a lane: it queues and reads the lane again, and it leaves.
 *
 * Owns: when each is due. Does not own: what is written (`waiting/lane.ts`), the writes at the lane between
 * two decisions (`engine/lanes.ts`).
 *
 * N4 an execution that ends keeps its wake time until its place is handed on: if a process dies meanwhile, a
 * supervisor repeats all of it.
 */

import { laneOf } from '../plan/lane.ts';
import type { Plan } from '../plan/plan.ts';
import { executionAfter, type DecisionInputs } from '../decisions/change.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import { isAdmitted, planSince } from '../records/in-lane.ts';
import { type LaneDone, type LaneWork, type OwnLane } from '../records/lane.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { type Execution, isForward, isTerminal, type Step } from '../records/state.ts';
import type { Rule } from '../step/rule.ts';
import { defined } from '../values/defined.ts';
import { queuedOf, seenInLane, wasResumed } from '../waiting/lane.ts';

/** When a supervisor follows a process that could not reach the lane. */
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
  });
}

/** Only a first start: a paused or retried execution may come long after a deployment with another limit. */
const isStart = ({ epoch, pauses }: Execution): boolean => epoch === 1 && pauses === undefined;

const isToEnter = (execution: Execution, record: Step | undefined): boolean =>
  isForward(execution.status) &&
  (record === undefined ||
    record.status === 'ready' ||
    (record.status === 'waiting' && wasResumed(execution, record)));

/**
 * Queues for a place, or reads the lane again: at the time set for that, or after a pause, during which the
 * lane skipped the execution.
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
 * An execution that never got a place leaves the queue before its on-failure steps, which act outside the
 * lane.
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

/** Leaves the lane after the end of the execution, once nothing of the execution can act any more. */
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
 * The decision about an execution whose end was announced before it leaves its lane; undefined for any other
 * execution.
 */
export function leftAfterEnd(execution: Execution, event: Evaluation): Decision | undefined {
  const { lane } = execution;
  if (lane?.announced !== true) return undefined;
  if (event.laneLeft !== true) return nothing();
  const { announced: _, ...kept } = lane;
  const gone = executionAfter(execution, 'announce', event, { wakeAt: undefined, lane: kept });
  return writing(execution.id, { execution: gone }, IDLE);
}
