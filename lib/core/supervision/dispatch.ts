/**
 * Dispatch: which pieces of work an evaluation sends, when a supervisor defers them instead, and what brings
 * the wake time forward between sweeps.
 *
 * Owns: an agent's sends, a supervisor's repeated sends, choosing between sending, deferring and waiting for
 * a later sweep; which deferred work is due earlier if an operator orders a call of its agent now. Does not
 * own: the state of breakers and the rate of a sweep (the event brings them as admissions), the gaps and the
 * wake time after any write (`wake-time.ts`), which executions an operator wakes (`scheduler/try-now.ts`).
 *
 * S16 an agent sends only work that its own step affects. A supervisor repeats unclaimed work, after gaps
 * that grow to a quarter of an hour, or to the pickup time if longer. Only a supervisor sends deferred work,
 * when its time has come.
 */

import { type DecisionInputs, executionAfter, stepAfter } from '../decisions/change.ts';
import {
  type AffectedSteps,
  type Decision,
  evaluateNext,
  IDLE,
  nothing,
  type Send,
  writing,
} from '../decisions/decision.ts';
import type { Evaluation, TryNow } from '../decisions/events.ts';
import { hasManySteps, isBefore, type Plan } from '../plan/plan.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Dispatch, NotBefore, Step } from '../records/state.ts';
import { deferral, hasNoDeadline } from '../step/defer.ts';
import { horizonMs, longestHorizonMs } from '../step/lease.ts';
import { CLOCKS_DIFFER_MS, settlesAt } from '../step/process-deadline.ts';
import { openWork, type Work, workKey } from '../step/ready.ts';
import type { Rule } from '../step/rule.ts';
import { externalTimes } from '../waiting/waits.ts';
import {
  dispatchDueAt,
  gapMs,
  longestGapMs,
  MAX_DELAY_MS,
  nextWakeAt,
  wasSentSinceDeferred,
} from './wake-time.ts';

/** If the next repetition is more horizons away than this, deferring is cheaper than evaluating meanwhile. */
const MAX_HORIZONS = 4;

const waits = (work: Work, now: number): boolean => work.deferred !== undefined && work.dueAt > now;

/** An agent's sends: the work that its own step affects, once. */
export function send(plan: Plan, state: Snapshot, event: Evaluation): Decision {
  const work = openWork(plan, state).filter(
    (piece) => isAffected(plan, event.affected, piece) && !waits(piece, event.now),
  );
  return { ...nothing(), sends: work.flatMap((piece) => sendOf(plan, piece, state, event.now)) };
}

/** True if a step affects a piece of work: its own, a predecessor's, or for an undo a dependent's. */
function isAffected(plan: Plan, affected: AffectedSteps, work: Work): boolean {
  if (affected === 'all') return true;
  const { name, after } = work.step;
  if (affected.includes(name)) return true;
  if (work.mode === 'undo') return affected.some((other) => isBefore(plan, name, other));
  return after.some((other) => affected.includes(other));
}

function sendOf(plan: Plan, work: Work, state: Snapshot, now: number): Send[] {
  const delayMs = Math.max(0, work.dueAt - now);
  if (delayMs > MAX_DELAY_MS) return [];
  const { step, mode, attempt } = work;
  const seq = state.steps[step.name]?.version ?? 0;
  const { id: execution, plan: planHash, fairGroup } = state.execution;
  const hint = hasManySteps(plan) ? { plan: planHash } : {};
  const message = { v: 1, execution, step: step.name, attempt, mode, seq, ...hint } as const;
  return [{ agent: step.agent, message, delayMs, ...(fairGroup === undefined ? {} : { group: fairGroup }) }];
}

/**
 * A supervisor's last act: defers or repeats unclaimed work, and sets the next wake time. One write, then the
 * sends.
 * @param rules those of the execution's status; the wake time is the earliest time at which one is due
 */
export function supervise(plan: Plan, state: Snapshot, event: Evaluation, rules: readonly Rule[]): Decision {
  const { execution } = state;
  const onlySelf = event.affected !== 'all' && event.affected.length === 0;
  if (onlySelf && (execution.wakeAt ?? 0) > event.now) return nothing();
  const work = openWork(plan, state);
  const horizon = horizonMs(plan, state);
  for (const piece of work) {
    const untilAt = unclaimedUntil(piece, state, horizon, event.now);
    if (untilAt !== undefined) return defer(state, event, piece, { why: 'unclaimed', at: untilAt });
  }
  const chosen: Chosen[] = [];
  for (const piece of work) {
    const known = execution.dispatches[workKey(piece)];
    const overdue = dispatchDueAt(piece, known) <= event.now;
    const following =
      known === undefined && isAffected(plan, event.affected, piece) && !waits(piece, event.now);
    if (overdue || following) chosen.push({ piece, overdue });
  }
  const blocked = admitted(state, event, chosen);
  if (blocked !== undefined) return blocked;
  const limited = rateLimited(event, chosen);
  for (const piece of work.length === 1 ? work : []) {
    const untilAt = turnAt(piece, event, limited, horizon);
    if (untilAt !== undefined) return defer(state, event, piece, { why: 'unclaimed', at: untilAt });
  }
  return dispatch(plan, state, event, work, limited, rules);
}

interface Chosen {
  readonly piece: Work;
  readonly overdue: boolean;
}

/**
 * Returns until when to defer work that was sent and not taken within its pickup time. It is deferred if the
 * next repetition is far off; or if no deadline ends the work and repetitions no longer become rarer, so that
 * the record must show since when no agent takes it (L1).
 */
function unclaimedUntil(piece: Work, state: Snapshot, horizon: number, now: number): number | undefined {
  const { execution, steps } = state;
  const known = execution.dispatches[workKey(piece)];
  if (known === undefined || !wasSentSinceDeferred(piece, known)) return undefined;
  if (now < known.lastAt + piece.step.pickupMs) return undefined;
  const gap = gapMs(piece, known);
  const untilAt = known.lastAt + gap;
  if (gap > MAX_HORIZONS * horizon && untilAt > now) return untilAt;
  const isUnnoted = steps[piece.step.name]?.undoDeferredAt === undefined;
  const isLongest = gap >= longestGapMs(piece);
  return isLongest && isUnnoted && hasNoDeadline(piece.mode, execution) ? Math.max(untilAt, now) : undefined;
}

/**
 * After a long wait in a long queue, defers for at most the time already waited, which at most doubles the
 * delay. Only for a single piece: deferred work is claimed with the execution's record, so siblings in the
 * queue would all claim together.
 */
function turnAt(
  piece: Work,
  { admissions, now }: Evaluation,
  { later }: RateLimited,
  horizon: number,
): number | undefined {
  const laterAt = later[workKey(piece)];
  const busyMs = (admissions?.[piece.step.agent]?.busyUntil ?? 0) - now;
  // Work deferred because of a full queue has waited since it arose; a backoff or a dead service does not
  // count.
  const waitedMs = now - (piece.deferred?.why === 'unclaimed' ? piece.sinceAt : piece.dueAt);
  const isLong = Math.min(busyMs, waitedMs) > MAX_HORIZONS * horizon;
  return laterAt !== undefined && isLong ? Math.min(laterAt, now + waitedMs) : undefined;
}

/** Asks for missing admissions; defers work for a dead service, or for an agent that is not deployed. */
function admitted(state: Snapshot, event: Evaluation, chosen: readonly Chosen[]): Decision | undefined {
  const { admissions } = event;
  if (admissions === undefined) return undefined;
  const asked: Record<string, number> = {};
  for (const { piece } of chosen) {
    const { agent } = piece.step;
    if (!Object.hasOwn(admissions, agent)) asked[agent] = (asked[agent] ?? 0) + 1;
  }
  if (Object.keys(asked).length > 0) return nothing({ kind: 'ask', agents: asked });
  for (const { piece } of chosen) {
    const { notBefore } = admissions[piece.step.agent] ?? {};
    if (notBefore === undefined || notBefore.why === 'unclaimed') continue;
    // Work that is not due yet may find its agent deployed by then.
    const isEarly = notBefore.why === 'not-deployed' && piece.dueAt > event.now;
    if (!isEarly) return defer(state, event, piece, notBefore);
  }
  return undefined;
}

function defer(state: Snapshot, event: Evaluation, piece: Work, until: NotBefore): Decision {
  // A state that is not fresh allows only sends, which are hints; anything else needs a fresh read.
  if (!event.fresh) return nothing(evaluateNext());
  const { step, retryAt, note } = deferral(piece, state, until, event);
  const { execution } = state;
  // Another supervisor that read the work before it was due assumes that it was sent, and may have set the
  // wake time accordingly (S12). So one of the two writes must conflict.
  const watched =
    piece.dueAt > event.now
      ? executionAfter(execution, 'set-wake-time', event, {
          wakeAt: Math.min(execution.wakeAt ?? retryAt, retryAt),
        })
      : undefined;
  return {
    ...writing(execution.id, { step, execution: watched }, evaluateNext(), note),
    wakeTime: 'as-written',
  };
}

interface RateLimited {
  readonly now: readonly Chosen[];
  /** By work key: overdue, but not sent before this time, because the sweep has sent enough to its agent. */
  readonly later: Readonly<Record<string, number>>;
}

function rateLimited({ admissions }: Evaluation, chosen: readonly Chosen[]): RateLimited {
  const used: Record<string, number> = {};
  const now: Chosen[] = [];
  const later: Record<string, number> = {};
  for (const one of chosen) {
    const { agent } = one.piece.step;
    const admission = admissions?.[agent];
    used[agent] = (used[agent] ?? 0) + 1;
    if (admission === undefined || (used[agent] ?? 0) <= admission.sends) now.push(one);
    else if (one.overdue) later[workKey(one.piece)] = admission.notBefore.at;
  }
  return { now, later };
}

function dispatch(
  plan: Plan,
  state: Snapshot,
  event: Evaluation,
  work: readonly Work[],
  { now, later }: RateLimited,
  rules: readonly Rule[],
): Decision {
  const { execution } = state;
  const dispatches: Record<string, Dispatch> = {};
  for (const piece of work) {
    const known = execution.dispatches[workKey(piece)];
    if (known !== undefined) dispatches[workKey(piece)] = known;
  }
  for (const { piece, overdue } of now) {
    const key = workKey(piece);
    if (overdue) dispatches[key] = { count: (dispatches[key]?.count ?? 0) + 1, lastAt: event.now };
  }
  const sends = now.flatMap(({ piece }) => sendOf(plan, piece, state, event.now));
  const late = new Set(now.flatMap(({ piece, overdue }) => (overdue ? [piece.step.name] : [])));
  const delays = { later, graceFrom: event.graceFrom, away: event.away };
  const wakeAt = nextWakeAt(rules, plan, state, dispatches, event.readAt, work, delays);
  // Work that follows from the supervisor's own write is sent for the first time.
  const notes = sends.map(({ agent, message: { step, attempt, mode } }) => ({
    what: late.has(step) ? 'dispatched' : 'sent',
    step,
    attempt,
    detail: mode,
    agent,
  }));
  const woken = executionAfter(execution, 'set-wake-time', event, { wakeAt, dispatches });
  return { ...writing(execution.id, { execution: woken }, IDLE, ...notes), sends, wakeTime: 'as-written' };
}

/**
 * S12 brings the wake time forward in any process but a supervisor, whose own write sets it: a wait or a
 * callback whose turn has come, or work deferred for a dead service, may be due earlier. It also makes
 * deferred work due earlier if an operator orders a call of its agent now.
 */
export const wakeEarlier: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    if (event.by === 'supervisor' || execution.wakeAt === undefined) return undefined;
    const sooner = event.tryNow && duePromptly(plan, state, event.tryNow, event);
    if (sooner !== undefined) return sooner;
    const untilAt = nextTime(plan, state);
    if (untilAt >= execution.wakeAt) return undefined;
    const woken = executionAfter(execution, 'set-wake-time', event, { wakeAt: untilAt });
    return writing(execution.id, { execution: woken }, evaluateNext());
  },
  says: { 'set-wake-time': 'the wake time is brought forward, because something is due before it' },
};

/**
 * F3 while the wake time is overdue, a supervisor that read the execution before a wait began may be at work,
 * and would set a wake time up to a horizon later. So the record is written unchanged, and the supervisor's
 * write conflicts. A claim's copy may be older than the latest sweep: it is read again. This rule is the last
 * and ends the evaluation, because it would apply again.
 */
export const outdateSweeps: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const { wakeAt = Number.POSITIVE_INFINITY } = execution;
    if (event.by === 'supervisor' || wakeAt > event.now + CLOCKS_DIFFER_MS) return undefined;
    const untilAt = nextTime(plan, state);
    if (untilAt <= event.now || untilAt >= event.now + longestHorizonMs(plan)) return undefined;
    const { sends } = send(plan, state, event);
    const written = executionAfter(execution, 'set-wake-time', event, {});
    return { ...writing(execution.id, { execution: written }, IDLE), sends };
  },
  says: { 'set-wake-time': 'the evaluations that began before a wait are outdated' },
};

const nextTime = (plan: Plan, state: Snapshot): number =>
  Math.min(...externalTimes(plan, state), ...deferredTimes(plan, state));

const deferredTimes = (plan: Plan, state: Snapshot): number[] =>
  Object.values(state.steps).some(({ deferred }) => deferred !== undefined)
    ? openWork(plan, state).flatMap(({ deferred, dueAt }) => (deferred === undefined ? [] : [dueAt]))
    : [];

interface Waiting {
  readonly record: Step;
  readonly dueAt: number;
}

/** The work that only waits for this agent, and could be due earlier. */
export const waitingFor = (plan: Plan, state: Snapshot, { agent, at }: TryNow): readonly Waiting[] =>
  openWork(plan, state).flatMap((work) => {
    const record = state.steps[work.step.name];
    if (record === undefined || work.step.agent !== agent || !isForAgent(work)) return [];
    const dueAt = Math.max(at, work.mode === 'undo' ? settlesAt(work.step, record) : 0);
    return (record.retryAt ?? 0) > dueAt ? [{ record, dueAt }] : [];
  });

const isForAgent = ({ deferred }: Work): boolean => deferred?.why === 'breaker' || deferred?.why === 'paused';

/**
 * Makes the first of them due; undefined if none is left. S12 the same write brings the wake time forward.
 * S10 an undo is not due while an earlier attempt at it may act.
 */
function duePromptly(
  plan: Plan,
  state: Snapshot,
  tryNow: TryNow,
  inputs: DecisionInputs,
): Decision | undefined {
  const [first] = waitingFor(plan, state, tryNow);
  if (first === undefined) return undefined;
  const { execution } = state;
  const { record, dueAt } = first;
  const step = stepAfter(record, 'defer', inputs, { retryAt: dueAt, deferred: record.deferred });
  const wakeAt = Math.min(execution.wakeAt ?? dueAt, dueAt);
  const woken = executionAfter(execution, 'set-wake-time', inputs, { wakeAt });
  return writing(execution.id, { step, execution: woken }, evaluateNext());
}
