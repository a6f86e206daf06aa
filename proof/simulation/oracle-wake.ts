/**
 * Wake times: whatever becomes due in an open execution, its wake time is no
 * later, up to what clocks may differ.
 *
 * Owns: S12 in exact figures. What is due when is reckoned anew from the records: ends of leases,
 * pickups, backoffs, deadlines, the times of questions, pauses, waits and answers, undos. Does
 * not own: that a supervisor then evaluates it (L1, at a world's end), that nothing is done
 * before its time (`oracle-times.ts`).
 */

import type { AgentStep, CallbackStep, LaneStep, Plan } from '../../lib/core/plan/plan.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import {
  hasUnannounced,
  openIncidents,
  type Snapshot,
  incidentsIn,
} from '../../lib/core/records/snapshot.ts';
import { type Execution, isForward, isTerminal, type Mode, type Step } from '../../lib/core/records/state.ts';
import { applies } from '../../lib/core/step/turn.ts';
import { isFollowing } from './on-failure.ts';
import { isWaitedFor } from './oracle-accepted.ts';
import { actedAs, agentOn } from './oracle-order.ts';
import { clearOf, effectiveStep, overTimeAt, turnOf } from './oracle-turns.ts';

/** Two clocks, each as wrong as is allowed (docs/OPERATIONS.md): what one wrote is read by the other. */
export const CLOCKS_DIFFER_MS = 4_000;
/** What one call takes. */
const CALL_MS = 100;
/** A lease is ended so much after its end, and no sooner. */
const LEASE_MARGIN_MS = 1_000;
/** What is due after longer than a queue can delay is sent by nobody before. */
const LONGEST_DELAY_MS = 900_000;
export const LONGEST_GAP_MS = 900_000;
const DAY_MS = 86_400_000;

export interface WakeContext {
  /** True time. */
  readonly now: number;
  /** What is overdue may be deferred by so much, for its queue is full or its service is being tried. */
  readonly putOffMs: number;
  /** The process that brought something about may have died before its evaluation. */
  readonly mayDie: boolean;
}

/** What is asked with every write, and said of hardly any: when something is due, and what, of which step. */
type Due = (at: number, what: string, step?: string, seenAt?: number) => void;

const lateness = (problems: string[], wakeAt: number, at: number, what: string, step?: string): void => {
  if (wakeAt - at <= CLOCKS_DIFFER_MS + CALL_MS) return;
  const named = step === undefined ? what : `${what} of '${step}'`;
  problems.push(`S12 the wake time is ${wakeAt - at} ms later than ${named}`);
};

/**
 * The wake time is there, and no later than the end of any lease.
 * @param graceFrom when a supervisor last noticed the end of an outage: leases from
 * before get their length once more
 */
export function judgeLeases(problems: string[], plan: Plan, state: Snapshot, graceFrom: number): void {
  const { status, wakeAt } = state.execution;
  if (isTerminal(status)) return;
  if (wakeAt === undefined) {
    problems.push('S12 an open execution has no wake time');
    return;
  }
  for (const step of plan.steps) {
    const leaseUntil = state.steps[step.name]?.leaseUntil;
    if (leaseUntil === undefined || step.kind !== 'agent') continue;
    // Whoever saw the lease counts the margin; whoever did not, nothing.
    const at =
      leaseUntil < graceFrom + CLOCKS_DIFFER_MS
        ? Math.max(leaseUntil, graceFrom + longestLease(step)) + LEASE_MARGIN_MS
        : leaseUntil;
    const noticedAt = Math.max(at, afterStop(step, state));
    lateness(problems, wakeAt, noticedAt, 'the end of the lease', step.name);
  }
}

/**
 * What has acted is not fenced, so who read it before the stop may still claim it to execute. Whether its
 * lease is noticed or not, its undo is due only when all its processes are dead and their settle time has
 * passed, and that is later than what the wake time was for before the claim (seed 5189).
 */
function afterStop(step: AgentStep, { execution, steps }: Snapshot): number {
  const { mode, claimedAt = 0, processDeadlineAt = 0 } = steps[step.name] ?? {};
  const stoppedAt = execution.status === 'compensating' ? execution.cause?.at : undefined;
  if (stoppedAt === undefined || mode !== 'execute' || claimedAt < stoppedAt - CLOCKS_DIFFER_MS) return 0;
  const settleMs = step.recovery.map((stage) => (stage.kind === 'useAgent' ? stage.settleMs : 0));
  return processDeadlineAt + Math.max(step.settleMs, ...settleMs);
}

/** The wake time is no later than anything else that becomes due. */
export function judgeWake(problems: string[], plan: Plan, state: Snapshot, context: WakeContext): void {
  const { execution } = state;
  const { wakeAt } = execution;
  if (isTerminal(execution.status) || wakeAt === undefined) return;
  const lookedAt = lookedAfterPause(plan, execution);
  const { now, putOffMs } = context;
  const question: Due = (at, what) => lateness(problems, wakeAt, Math.max(at, lookedAt), what);
  const work: Due = (at, what, step, seenAt = 0) =>
    lateness(problems, wakeAt, Math.max(putOff(at, now, putOffMs), lookedAt, seenAt), what, step);
  questionDues(question, state);
  if (hasUnannounced(state)) question(now + factsOf(plan).horizonMs, 'the news of a question');
  // No work is due before now.
  if (wakeAt - now <= CLOCKS_DIFFER_MS + CALL_MS) return;
  if (isForward(execution.status) || isFollowing(plan)) forwardDues(work, plan, state, context.mayDie);
  else undoDues(work, plan, state);
}

const putOff = (at: number, now: number, putOffMs: number): number =>
  at <= now + CLOCKS_DIFFER_MS ? Math.max(at, now) + putOffMs : at;

/** The defaults of open questions, and the end of a pause about which none was asked yet. */
function questionDues(due: Due, state: Snapshot): void {
  const { execution } = state;
  const { status } = execution;
  if (state.questions !== undefined) {
    const isPaused = status === 'pausing' || status === 'paused';
    for (const incident of openIncidents(state)) {
      const { kind, deadlineAt, remindAt } = incident;
      if (!isPaused || kind === 'pause') due(deadlineAt, 'the default of a question');
      // After a pause its time is moved first.
      const isDue = remindAt !== undefined && !isPaused && !isToBeMoved(execution, incident);
      if (isDue) due(remindAt, 'a reminder of a question');
    }
  }
  const pause = status === 'paused' ? execution.pauses?.at(-1) : undefined;
  if (pause?.deadlineAt === undefined) return;
  const isAsked = incidentsIn(state).some(
    ({ kind, stepVersion }) => kind === 'pause' && stepVersion === pause.number,
  );
  if (!isAsked) due(pause.deadlineAt, 'the end of a pause');
}

const isToBeMoved = ({ pauses }: Execution, { movedFor = 0 }: Incident): boolean =>
  (pauses?.at(-1)?.number ?? 0) > movedFor;

/** On whichever stage. */
const longestLease = ({ leaseMs, recovery }: AgentStep): number =>
  Math.max(leaseMs, ...recovery.map((stage) => (stage.kind === 'useAgent' ? stage.leaseMs : 0)));

/** What becomes due while the execution goes forward. */
function forwardDues(due: Due, plan: Plan, state: Snapshot, mayDie: boolean): void {
  const { execution, steps } = state;
  const { isFree, horizonMs } = factsOf(plan);
  // The process that brought its turn about may have died before the evaluation that says so.
  const unseenMs = mayDie ? horizonMs : 0;
  if (isFree && !isFollowing(plan)) due(execution.deadlineAt, 'its deadline');
  // What a failure waits for is not reckoned here.
  const waits = !isFree && plan.steps.some(({ name }) => steps[name]?.status === 'failed');
  for (const step of plan.steps) {
    if (step.kind === 'child') {
      const { status, retryAt = 0, changedAt = 0 } = steps[step.name] ?? {};
      // The process of a retry may die before the evaluation, as any process that brings a turn about.
      if (status === 'retrying') due(Math.max(retryAt, changedAt + unseenMs), 'the next try', step.name);
    }
    if (step.kind === 'callback' || step.kind === 'approval') answerDue(due, step, state, unseenMs);
    if (step.kind === 'lane') placeDue(due, step, state, unseenMs);
    if (step.kind !== 'wait' && step.kind !== 'agent') continue;
    const sinceAt = turnOf(step, state);
    if (sinceAt === undefined || !applies(step, state)) continue;
    const record = effectiveStep(step, steps[step.name], execution);
    const isOpen = record === undefined || (record.status === 'retrying' && record.leaseUntil === undefined);
    if (isOpen && step.withinMs !== undefined) {
      const seenAt = Math.max(sinceAt, record?.changedAt ?? 0) + unseenMs;
      due(Math.max(overTimeAt(step.name, step.withinMs, sinceAt, state), seenAt), 'its time', step.name);
    }
    if (step.kind === 'agent') {
      const at = waits ? undefined : forwardDue(step, record, sinceAt, execution);
      const mode = record !== undefined && isAsked(record) ? 'probe' : 'execute';
      if (at !== undefined) due(at, 'the next try', step.name, heldBackSeenAt(step, record, mode));
      if (isFollowing(plan) && record?.deferred !== undefined && record.undoDeferredAt !== undefined)
        due(record.undoDeferredAt + DAY_MS, 'a day of waiting', step.name);
    } else if (record === undefined && step.forMs !== undefined)
      due(sinceAt + Math.max(step.forMs, unseenMs), 'the time', step.name);
  }
}

/** The end of the time for a place, and the time at which the lane is read again. */
function placeDue(due: Due, { name, withinMs }: LaneStep, state: Snapshot, unseenMs: number): void {
  const { execution } = state;
  const { status, epoch, changedAt = 0 } = state.steps[name] ?? {};
  if (epoch === execution.epoch && status !== 'waiting') return;
  const sinceAt = Math.max(execution.startedAt, execution.retries?.at(-1)?.at ?? 0);
  due(Math.max(overTimeAt(name, withinMs, sinceAt, state), sinceAt + unseenMs), 'the time for a place', name);
  const { checkAt } = execution.lane ?? {};
  if (status === 'waiting' && checkAt !== undefined)
    due(Math.max(checkAt, changedAt), 'the lane is to be read again', name);
}

/** The end of the time for an answer, which no heartbeat moves, or of that for the next heartbeat. */
function answerDue(due: Due, step: CallbackStep, state: Snapshot, unseenMs: number): void {
  const { name, withinMs, heartbeatMs = Number.POSITIVE_INFINITY } = step;
  const sinceAt = turnOf(step, state);
  const record = effectiveStep(step, state.steps[name], state.execution);
  const isOpen = record === undefined || record.status === 'waiting';
  if (sinceAt === undefined || !isOpen || !applies(step, state)) return;
  const overAt = overTimeAt(name, withinMs, sinceAt, state);
  const aliveAt = Math.max(sinceAt, record?.progressAt ?? 0);
  const silentAt = overTimeAt(name, heartbeatMs, aliveAt, state);
  const seenAt = Math.max(sinceAt, record?.progressAt ?? 0) + unseenMs;
  due(Math.max(Math.min(overAt, silentAt), seenAt), 'the time for an answer', name);
}

const IDLE_HORIZON_MS = 60_000;

/**
 * The process that ends a pause evaluates; if it dies, another does after a lease or pickup time of the plan.
 */
function lookedAfterPause(plan: Plan, { pauses }: Execution): number {
  const endedAt = pauses?.at(-1)?.endedAt;
  return endedAt === undefined ? 0 : endedAt + factsOf(plan).horizonMs;
}

interface Facts {
  /** Nothing of it is a point of no return. */
  readonly isFree: boolean;
  /**
   * What was written last is evaluated within this time: the longest of every step's
   * shorter one of lease and pickup time.
   */
  readonly horizonMs: number;
}

const facts = new WeakMap<Plan, Facts>();

function factsOf(plan: Plan): Facts {
  const known = facts.get(plan);
  if (known !== undefined) return known;
  const spans = plan.steps.flatMap((step) =>
    step.kind === 'agent' ? [Math.min(step.leaseMs, step.pickupMs)] : [],
  );
  const found = {
    isFree: plan.steps.every(({ pointOfNoReturn }) => pointOfNoReturn !== true),
    horizonMs: spans.length === 0 ? IDLE_HORIZON_MS : Math.max(...spans),
  };
  facts.set(plan, found);
  return found;
}

/** When the step is to be sent again if nobody takes it. */
function forwardDue(
  step: AgentStep,
  record: Step | undefined,
  turnAt: number,
  execution: Execution,
): number | undefined {
  if (record === undefined) {
    // After a pause or a retry it is its turn since then.
    const pausedUntil = execution.pauses?.at(-1)?.endedAt ?? 0;
    return dispatchedAt(step, 'execute', Math.max(turnAt, pausedUntil), step.pickupMs, execution);
  }
  if (record.leaseUntil !== undefined) return undefined;
  if (record.status !== 'retrying' && !isAsked(record)) return undefined;
  const quietAt = record.processDeadlineAt + actedAs(step, record).settleMs;
  const isLeft = actedAs(step, record).effect === 'none' && record.mayHaveActed && isChanged(step, record);
  const from = isLeft ? { ...record, retryAt: Math.max(record.retryAt ?? 0, quietAt) } : record;
  return sentAt(step, from, isAsked(record) ? 'probe' : 'execute', record.changedAt, execution);
}

const isAsked = ({ status }: Step): boolean => status === 'unknown' || status === 'accepted';

/** The next attempt is another request than the latest. */
const isChanged = ({ recovery }: AgentStep, { stage, keyVariant, givenInput }: Step): boolean =>
  givenInput !== undefined ||
  recovery.slice(0, stage).filter(({ kind }) => kind === 'withInput' || kind === 'useAgent').length !==
    keyVariant;

/** A piece of work that waits: when a message comes, or if none came, another one. */
function sentAt(step: AgentStep, record: Step, mode: Mode, sinceAt: number, execution: Execution): number {
  const isDeferred = record.deferred?.mode === mode;
  const dueAt = Math.max(sinceAt, record.retryAt ?? 0);
  const nobodySent = isDeferred || dueAt - sinceAt > LONGEST_DELAY_MS;
  const { pickupMs } = mode === 'execute' ? agentOn(step, record.stage) : actedAs(step, record);
  const firstAt = nobodySent ? dueAt : dueAt + pickupMs;
  return dispatchedAt(step, mode, isDeferred ? dueAt : sinceAt, pickupMs, execution, firstAt);
}

/**
 * The process that deferred work evaluates, too; if it dies, another does after this. What was never claimed
 * keeps the time at which it came to be, however often it is deferred. It is apart from when the work is due:
 * what is overdue by then may be put off.
 */
const heldBackSeenAt = (step: AgentStep, record: Step | undefined, mode: Mode): number =>
  record?.deferred?.mode === mode
    ? Math.max(record.changedAt, record.deferred.at) + Math.min(step.leaseMs, step.pickupMs)
    : 0;

/** After a supervisor's dispatches: a gap later, which doubles with each. */
function dispatchedAt(
  { name }: AgentStep,
  mode: Mode,
  sinceAt: number,
  pickupMs: number,
  { dispatches }: Execution,
  firstAt = sinceAt + pickupMs,
): number {
  let at = firstAt;
  for (const key in dispatches) {
    const { count, lastAt } = dispatches[key] as Execution['dispatches'][string];
    if (!key.startsWith(`${name}/${mode}/`) || lastAt < sinceAt) continue;
    at = Math.max(at, lastAt + Math.min(pickupMs * 2 ** count, Math.max(LONGEST_GAP_MS, pickupMs)));
  }
  return at;
}

/** What becomes due while it is being undone. */
function undoDues(due: Due, plan: Plan, state: Snapshot): void {
  const { execution, steps } = state;
  if (execution.status !== 'compensating' || plan.tolerated !== undefined) return;
  if (execution.cause?.undo === false || !factsOf(plan).isFree) return;
  for (const step of plan.steps) {
    const record = steps[step.name];
    if (step.kind !== 'agent' || record === undefined || record.leaseUntil !== undefined) continue;
    if (record.deferred?.mode === 'undo' && record.undoDeferredAt !== undefined)
      due(record.undoDeferredAt + DAY_MS, 'a day of waiting for the undo', step.name);
    if (isWaitedFor(actedAs(step, record), record)) {
      const seenAt = heldBackSeenAt(step, record, 'probe');
      due(sentAt(step, record, 'probe', record.changedAt, execution), 'the question', step.name, seenAt);
    }
    const isBegun = record.status === 'compensating';
    if (!isBegun && record.status !== 'done' && record.status !== 'accepted') continue;
    if (actedAs(step, record).undo === 'none') continue;
    const clearAt = isBegun ? 0 : clearOf(plan, step, state);
    if (clearAt === undefined) continue;
    const sinceAt = Math.max(record.changedAt, clearAt, execution.cause?.at ?? 0);
    const quietAt = record.mayHaveActed ? record.processDeadlineAt + actedAs(step, record).settleMs : 0;
    const { retryAt: _, ...fresh } = record;
    const isTimed = isBegun || record.deferred?.mode === 'undo';
    const from = {
      ...(isTimed ? record : fresh),
      retryAt: Math.max((isTimed ? record.retryAt : 0) ?? 0, quietAt),
    };
    const seenAt = heldBackSeenAt(step, record, 'undo');
    due(sentAt(step, from, 'undo', sinceAt, execution), 'the undo', step.name, seenAt);
  }
}
