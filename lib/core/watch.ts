/**
 * The watch: the time at which someone must look at an execution.
 *
 * Owns: S12 and the gaps between the supervisor's repeated dispatches. Does not own: who writes it. It is written when an
 * execution starts, when its status changes, by a supervisor's look, and with every write that no live lease covers
 * (a late success, the last step's end by time); beats and reports never touch it, and of claims only those below.
 *
 * S12 `watchAt` ≤ min(every deadline known, e + H). H is the smallest lease or pickup time among the unfinished
 * steps: a step write that the reader did not see creates a deadline no earlier than its own time + H. e is the clock
 * before the read while anything may be written at any moment, else the earliest `retryAt`.
 */

import type { Write } from './decision.ts';
import { attemptedStage } from './ladder.ts';
import {
  agentStep,
  agentSteps,
  type AgentStep,
  type ChildStep,
  type MapStep,
  type Plan,
  type PlanStep,
  type StepLimits,
} from './plan.ts';
import {
  type Children,
  type Dispatch,
  type Execution,
  askedAboutPause,
  type HeldStep,
  isForward,
  isHeld,
  isTerminal,
  openIncidents,
  pauseOf,
  type Snapshot,
  type Step,
} from './state.ts';
import { allEnded, roomFor } from './children.ts';
import { outsideTimes } from './outside.ts';
import { undoOverdueAt } from './parking.ts';
import { isAskedAtDeadline, mayBeStopped } from './point-of-no-return.ts';
import { applies, isReady, isUnbegun } from './turn.ts';
import { isAllOver, openWork, stepToHold, type Work, workKey } from './work.ts';
import { executionAfter, noLater, type Stamp } from './write.ts';

/** Allowance for clocks that differ and for a beat that is under way. A lease is over this much after its end. */
export const LEASE_MARGIN_MS = 1_000;

/** SQS delays a message by 15 minutes at most; what is due later is sent when it is due, by the supervisor. */
export const MAX_DELAY_MS = 900_000;

/** A repeated dispatch waits no longer than this, so that a queue that comes back is used soon. */
const MAX_GAP_MS = 900_000;

/** Of a plan in which no agent works; nobody writes there without drawing the watch near. */
const IDLE_HORIZON_MS = 60_000;

const FINISHED: ReadonlySet<Step['status']> = new Set(['done', 'skipped', 'sealed', 'undone', 'undo-failed']);

/** The smallest lease or pickup time among the unfinished steps; of all steps when none is left. */
export function horizonMs(plan: Plan, snapshot: Snapshot | undefined): number {
  const undoing = snapshot?.execution.status === 'undoing';
  const all = agentSteps(plan);
  const open = all.filter((step) => {
    const record = snapshot?.steps[step.name];
    return record === undefined || (undoing && record.status === 'done') || !FINISHED.has(record.status);
  });
  const steps = open.length > 0 ? open : all;
  return steps.length > 0 ? Math.min(...steps.map(shortestMs)) : IDLE_HORIZON_MS;
}

/** On whichever rung the step may be claimed next. */
function shortestMs(step: AgentStep): number {
  let ms = Math.min(leaseSpanMs(step), step.pickupMs);
  for (const rung of step.ladder)
    if (rung.kind === 'useAgent') ms = Math.min(ms, leaseSpanMs(rung), rung.pickupMs);
  return ms;
}

/** The longest a lease may last from now on: also no longer than the attempt may go without progress. */
export const leaseSpanMs = (step: StepLimits): number =>
  Math.min(step.leaseMs, step.maxNoProgressMs ?? step.leaseMs);

export const leaseEndsAt = (leaseUntil: number): number => leaseUntil + LEASE_MARGIN_MS;

/** After its time is over an attempt may still take this long to stop and report. */
export const REPORT_GRACE_MS = 5_000;

/** By when the lease is over: one that could not be renewed because the store was away gets its length once more. */
export function leaseOverAt(plan: Plan, step: HeldStep, graceFrom: number | undefined): number {
  const endsAt = leaseEndsAt(step.leaseUntil);
  const planned = agentStep(plan, step.name);
  if (graceFrom === undefined || planned === undefined || step.leaseUntil >= graceFrom) return endsAt;
  const { leaseMs, timeoutMs } = attemptedStage(planned, step);
  const graceUntil = leaseEndsAt(graceFrom + leaseMs);
  // A process that is dead for certain renews nothing any more, nor does an attempt whose time is over.
  const overAt = (step.claimedAt ?? 0) + timeoutMs + REPORT_GRACE_MS;
  const lastAt = leaseEndsAt(step.mode === 'probe' ? overAt : Math.min(overAt, step.hardEndAt));
  return Math.max(endsAt, Math.min(graceUntil, lastAt));
}

/** Between a dispatch that nobody answers and the next. */
export const gapMs = (work: Work, dispatch: Dispatch): number => {
  const { pickupMs } = work.step;
  return Math.min(pickupMs * 2 ** Math.min(dispatch.count, 30), Math.max(MAX_GAP_MS, pickupMs));
};

export const wasSentSinceParked = (work: Work, dispatch: Dispatch | undefined): boolean =>
  dispatch !== undefined && (work.parked === undefined || dispatch.lastAt >= work.dueAt);

/**
 * When the supervisor must send a piece of work that nobody has claimed: a pickup time after it was due, then with
 * doubling gaps; at once when it was parked or due too late for a delayed message, for then nobody has sent it.
 */
export function dispatchDueAt(work: Work, dispatch: Dispatch | undefined): number {
  if (dispatch !== undefined && wasSentSinceParked(work, dispatch))
    return dispatch.lastAt + gapMs(work, dispatch);
  const nobodySent = work.parked !== undefined || work.dueAt - work.sinceAt > MAX_DELAY_MS;
  return nobodySent ? work.dueAt : work.dueAt + work.step.pickupMs;
}

interface Excuses {
  /** By work key. */
  readonly later?: Readonly<Record<string, number>>;
  readonly graceFrom?: number;
}

/**
 * The next time to look.
 * @param readAt the clock before `snapshot` was read
 * @param excuses what is put off in the wake of an outage: dispatches to a later sweep, ends of leases by a grace
 */
export function nextWatchAt(
  plan: Plan,
  snapshot: Snapshot,
  dispatches: Execution['dispatches'],
  readAt: number,
  work: readonly Work[] = openWork(plan, snapshot),
  excuses: Excuses = {},
): number | undefined {
  const { execution } = snapshot;
  if (isTerminal(execution.status)) return execution.watchAt;
  const hMs = horizonMs(plan, snapshot);
  const records = Object.values(snapshot.steps);
  const deadlines = [
    // Then it is stopped, or where there is no way back a person is asked; that question has a time of its own.
    ...(endsAtDeadline(plan, snapshot) || isAskedAtDeadline(plan, snapshot) ? [execution.deadlineAt] : []),
    ...questionDeadlines(snapshot),
    ...records.filter(isHeld).map((record) => leaseOverAt(plan, record, excuses.graceFrom)),
    ...work.map((piece) =>
      Math.max(dispatchDueAt(piece, dispatches[workKey(piece)]), excuses.later?.[workKey(piece)] ?? 0),
    ),
    ...outsideTimes(plan, snapshot),
    ...records.map(undoOverdueAt),
  ];
  const watchAt = Math.min(...deadlines, quietFrom(plan, snapshot, work, readAt) + hMs);
  return Number.isFinite(watchAt) ? watchAt : readAt + hMs;
}

const endsAtDeadline = (plan: Plan, snapshot: Snapshot): boolean =>
  isForward(snapshot.execution.status) && mayBeStopped(plan, snapshot);

/** Of the open questions, and of a pause about which none was asked yet; during a pause those about steps stand still. */
function questionDeadlines(snapshot: Snapshot): number[] {
  const open = openIncidents(snapshot);
  const pause = pauseOf(snapshot.execution);
  if (pause === undefined) return open.map((incident) => incident.deadlineAt);
  const asked = askedAboutPause(snapshot, pause);
  if (asked !== undefined) return asked.resolvedAt === undefined ? [asked.deadlineAt] : [];
  return pause.deadlineAt === undefined ? [] : [pause.deadlineAt];
}

/**
 * The write of a step that no lease covers and that is over now. S12 whoever writes it may have read it before a pause, and
 * what is paused is watched at its question alone: with the last step, after which the end is due, goes the execution, so
 * that the write fails on one that has been paused since.
 */
export function unleasedEnd(plan: Plan, state: Snapshot, step: Step, stamp: Stamp): Write {
  const { execution, steps } = state;
  const write: Write = { executionId: execution.id, step };
  if (!isAllOver(plan, { ...steps, [step.name]: step })) return write;
  const watchAt = noLater(execution, stamp.now + horizonMs(plan, state));
  return { ...write, execution: executionAfter(execution, 'watch', stamp, { watchAt }) };
}

/** e of S12: until then nobody writes a step without having been sent there first. */
function quietFrom(plan: Plan, snapshot: Snapshot, work: readonly Work[], readAt: number): number {
  const records = Object.values(snapshot.steps);
  if (snapshot.execution.status === 'paused') {
    // Once everything is held nobody writes without drawing the watch near.
    const isQuiet = stepToHold(plan, snapshot) === undefined && !records.some(isHeld);
    return isQuiet ? Number.POSITIVE_INFINITY : readAt;
  }
  const busy =
    snapshot.execution.status === 'pausing' ||
    (!isForward(snapshot.execution.status) && openIncidents(snapshot).length === 0) ||
    records.some((record) => isHeld(record) || record.status === 'unknown') ||
    work.some((piece) => piece.dueAt <= readAt) ||
    (isForward(snapshot.execution.status) && plan.steps.some((step) => isStarting(plan, step, snapshot)));
  if (busy) return readAt;
  // Whoever answers a person's question, a callback, or a parent draws the watch near in the same transaction, and the time
  // of a wait is a deadline of its own: nothing has to be looked for.
  const awaited = openIncidents(snapshot).length > 0 || isAwaiting(plan, snapshot);
  const times = work.map((piece) => piece.dueAt);
  return times.length === 0 && !awaited ? readAt : Math.max(readAt, Math.min(...times));
}

/** Executions of the step's own are being started, or must be. */
function isStarting(plan: Plan, step: PlanStep, snapshot: Snapshot): boolean {
  if (step.kind !== 'child' && step.kind !== 'map') return false;
  const record = snapshot.steps[step.name];
  if (isUnbegun(record)) return isReady(plan, step, snapshot) && applies(step, snapshot);
  return record?.status === 'running' && record.children !== undefined && isDue(step, record.children);
}

/** More are to be started, or all have ended. */
const isDue = (step: ChildStep | MapStep, children: Children): boolean =>
  allEnded(children) || (children.started < children.count && roomFor(step, children) > 0);

/** Something outside of the execution will end a step of it: the time, an answer, executions of its own. */
const isAwaiting = (plan: Plan, snapshot: Snapshot): boolean =>
  outsideTimes(plan, snapshot).length > 0 ||
  Object.values(snapshot.steps).some(
    ({ status, children }) => status === 'running' && children !== undefined,
  );
