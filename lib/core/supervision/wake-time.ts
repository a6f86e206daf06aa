/**
 * The wake time: the time at which a supervisor must evaluate an execution again.
 *
 * Owns: S12 and the gaps between a supervisor's repeated messages. Does not own: when rules are due (the
 * `dueAt` of each rule).
 *
 * S12 it is the earliest of three times: a rule is due (a deadline, the end of a lease, a reminder); a
 * message that no agent took must be repeated; a horizon H has passed. H is needed because claims and
 * heartbeats do not touch the wake time, so a lease may have begun unseen; it is no longer than the shortest
 * lease (`step/lease.ts`). H counts from the read while an agent may write at any moment, otherwise from when
 * the next work is due. There is no horizon while the execution only waits for a time, an answer or a child:
 * the time is a deadline, and the write of an answer or of a child's end brings the wake time forward.
 *
 * A supervisor's evaluation sets the wake time. Any other write of an open execution only brings it forward.
 */

import type { Away } from '../values/away.ts';
import { asIncident } from '../records/question.ts';
import { planInStatus } from '../plan/on-failure.ts';
import { graphOf, endsByParty, hasChildren, type Plan, type PlanStep } from '../plan/plan.ts';
import { executionAfter, type DecisionInputs } from '../decisions/change.ts';
import type { Decision } from '../decisions/decision.ts';
import { hasUnannounced, needsPerson, type Snapshot } from '../records/snapshot.ts';
import {
  type Dispatch,
  type Execution,
  isForward,
  isLeased,
  isPerforming,
  isTerminal,
  type Step,
} from '../records/state.ts';
import { underWay } from '../holds/pause.ts';
import { horizonMs } from '../step/lease.ts';
import { isAllOver, openWork, type Work, workKey } from '../step/ready.ts';
import type { Rule } from '../step/rule.ts';
import { applies, hasOpenChildren, isEnding, isTurnToBegin, isUnbegun } from '../step/turn.ts';
import { hasEndDue } from '../waiting/child.ts';
import { isStartDue } from '../waiting/map.ts';
import { waitsUntil } from '../waiting/waits.ts';

/** SQS delays a message by at most 15 minutes; a supervisor sends later messages when they are due. */
export const MAX_DELAY_MS = 900_000;

/** The longest gap between repeated dispatches: a queue that recovers is used again within this time. */
const MAX_GAP_MS = 900_000;

export const longestGapMs = ({ step: { pickupMs } }: Work): number => Math.max(MAX_GAP_MS, pickupMs);

/** The gap between a dispatch that was not claimed and the next. */
export const gapMs = (work: Work, dispatch: Dispatch): number =>
  Math.min(work.step.pickupMs * 2 ** Math.min(dispatch.count, 30), longestGapMs(work));

export const wasSentSinceDeferred = (work: Work, dispatch: Dispatch | undefined): boolean =>
  dispatch !== undefined && (work.deferred === undefined || dispatch.lastAt >= work.dueAt);

/**
 * When the supervisor must send a piece of unclaimed work: a pickup time after it was due, then with doubling
 * gaps. Work that was deferred, or due too late for a delayed message, was never sent, so it is sent when it
 * is due.
 */
export function dispatchDueAt(work: Work, dispatch: Dispatch | undefined): number {
  if (dispatch !== undefined && wasSentSinceDeferred(work, dispatch))
    return dispatch.lastAt + gapMs(work, dispatch);
  const isUnsent = work.deferred !== undefined || work.dueAt - work.sinceAt > MAX_DELAY_MS;
  return isUnsent ? work.dueAt : work.dueAt + work.step.pickupMs;
}

/** After an outage, dispatches may wait for a later sweep, and the ends of leases for a grace period. */
interface Delays {
  /** By work key: the earliest time to send work that waits because this sweep has sent its agent enough. */
  readonly later?: Readonly<Record<string, number>>;
  readonly graceFrom?: number | undefined;
  readonly away?: readonly Away[] | undefined;
}

/**
 * The next wake time: the earliest time at which a rule or a dispatch is due. It is at most a horizon after
 * the moment from which a write may go unseen.
 * @param rules those of the execution's status
 * @param readAt the clock before `snapshot` was read
 */
export function nextWakeAt(
  rules: readonly Rule[],
  plan: Plan,
  snapshot: Snapshot,
  dispatches: Execution['dispatches'],
  readAt: number,
  work: readonly Work[] = openWork(plan, snapshot),
  { later, graceFrom, away }: Delays = {},
): number {
  const hMs = horizonMs(plan, snapshot);
  const timing = { readAt, work, graceFrom, away };
  const times = [
    ...rules.flatMap(({ dueAt }) => dueAt?.(plan, snapshot, timing).map(({ at }) => at) ?? []),
    ...work.map((piece) =>
      Math.max(dispatchDueAt(piece, dispatches[workKey(piece)]), later?.[workKey(piece)] ?? 0),
    ),
  ];
  const wakeAt = Math.min(...times, quietFrom(plan, snapshot, work, readAt) + hMs);
  return Number.isFinite(wakeAt) ? wakeAt : readAt + hMs;
}

/**
 * Part of every decision: after a write, an open execution is evaluated again within a horizon, or earlier if
 * the rule sets an earlier `wakeAt`. An overdue wake time is kept, so that the delay of the evaluation can be
 * measured.
 * @param plan as it is stored
 */
export function bringForward(
  plan: Plan,
  state: Snapshot,
  inputs: DecisionInputs,
  decision: Decision,
): Decision {
  const { write } = decision;
  if (write === undefined || decision.wakeTime === 'as-written') return decision;
  const written = write.execution ?? withUnleasedEnd(plan, state, write.step, inputs);
  if (written === undefined || isTerminal(written.status)) return decision;
  const before = state.execution.wakeAt ?? Number.POSITIVE_INFINITY;
  // A new status or a resolution may reopen steps, so the horizon then regards every step as unfinished.
  const isMoved = written.status !== state.execution.status || asIncident(write.question) !== undefined;
  const horizonAt = inputs.now + horizonMs(planInStatus(plan, written), isMoved ? undefined : state);
  const wakeAt = Math.min(before, written.wakeAt ?? before, horizonAt);
  return { ...decision, write: { ...write, execution: { ...written, wakeAt } } };
}

/**
 * Adds the execution's record to the write of a step that ends without a lease. The write then fails if the
 * execution was paused after it was read. There are two cases. S12 the last step ends: the execution's end is
 * due at once, but a paused execution's wake time is the deadline of its pause. L1 the step fails, or takes
 * its default without an answer or a message: a pause extends the step's time.
 */
function withUnleasedEnd(
  plan: Plan,
  { execution, steps }: Snapshot,
  step: Step | undefined,
  inputs: DecisionInputs,
): Execution | undefined {
  if (step === undefined || isLeased(steps[step.name]) || isLeased(step)) return undefined;
  const before = steps[step.name];
  const isDefault =
    (endsByParty(graphOf(plan).step.get(step.name)) &&
      step.status === 'done' &&
      before?.status !== 'answered') ||
    (before?.children?.rounds?.awaits !== undefined && step.children?.rounds?.awaits === undefined);
  const isOver = step.status === 'failed' || isDefault || isAllOver(plan, { ...steps, [step.name]: step });
  return isOver ? executionAfter(execution, 'set-wake-time', inputs, {}) : undefined;
}

/** When H begins to count: until then no agent writes a step, because no message has been sent. */
function quietFrom(plan: Plan, snapshot: Snapshot, work: readonly Work[], readAt: number): number {
  const records = Object.values(snapshot.steps);
  if (snapshot.execution.status === 'paused') {
    // Work that begins later brings the wake time forward itself. A change that the bus has not accepted yet,
    // or child executions that could not be read, do not wait for the end of the pause.
    const isOwed = hasUnannounced(snapshot) || hasEndDue(plan, snapshot);
    return !isOwed && underWay(snapshot, readAt) === 0 ? Number.POSITIVE_INFINITY : readAt;
  }
  const busy =
    (!isPerforming(snapshot.execution.status) && !needsPerson(snapshot)) ||
    records.some((record) => isLeased(record) || record.status === 'unknown') ||
    work.some((piece) => piece.dueAt <= readAt) ||
    (isForward(snapshot.execution.status) && plan.steps.some((step) => isStarting(step, snapshot)));
  if (busy) return readAt;
  // A resolution, the answer to a callback and a child's notice bring the wake time forward in the same
  // transaction, and a wait's time is a deadline of its own: none can be missed.
  const awaited = needsPerson(snapshot) || isAwaiting(plan, snapshot);
  const times = work.map((piece) => piece.dueAt);
  return times.length === 0 && !awaited ? readAt : Math.max(readAt, Math.min(...times));
}

/** True if child executions of the step are being started, or must be. */
function isStarting(step: PlanStep, snapshot: Snapshot): boolean {
  if (!hasChildren(step)) return false;
  const record = snapshot.steps[step.name];
  if (isUnbegun(record)) return isTurnToBegin(step, snapshot) && applies(step, snapshot);
  const { children } = record ?? {};
  return (
    record?.status === 'running' &&
    children !== undefined &&
    (!hasOpenChildren(children) || isStartDue(step, children) || isEnding(children))
  );
}

/** True if a step is ended from outside the execution: by a time, an answer or its child executions. */
const isAwaiting = (plan: Plan, snapshot: Snapshot): boolean =>
  plan.steps.some((step) => waitsUntil(step, snapshot) !== undefined) ||
  Object.values(snapshot.steps).some(
    ({ status, children }) =>
      children !== undefined &&
      (status === 'running' || (status === 'retrying' && isForward(snapshot.execution.status))),
  );
