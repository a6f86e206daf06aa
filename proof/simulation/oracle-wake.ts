/**
 * Wake times: whatever becomes due in an open execution, its watch is no later, up to what clocks may differ.
 *
 * Owns: S12 in exact figures. What is due when is reckoned anew from the records: ends of leases, pickups, backoffs,
 * deadlines, the times of questions, pauses, waits and answers, undos. Does not own: that somebody then looks (L1, at a
 * world's end), that nothing is done before its time (`oracle-times.ts`).
 */

import type { AgentStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import { openIncidents, type Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, isForward, isTerminal, type Mode, type Step } from '../../lib/core/records/state.ts';
import { applies } from '../../lib/core/step/turn.ts';
import { agentOn, reasonsAgainstUndo } from './oracle-order.ts';

/** Two clocks, each as wrong as is allowed (docs/OPERATIONS.md): what one wrote is read by the other. */
export const CLOCKS_DIFFER_MS = 4_000;
/** What one call takes. */
const CALL_MS = 100;
/** A lease is ended so much after its end, and no sooner. */
const LEASE_MARGIN_MS = 1_000;
/** What is due after longer than a queue can delay is sent by nobody before. */
const LONGEST_DELAY_MS = 900_000;
const LONGEST_GAP_MS = 900_000;
const DAY_MS = 86_400_000;

export interface WakeContext {
  /** True time. */
  readonly now: number;
  /** What is overdue may be put off by so much, for its queue is full or its service is being tried. */
  readonly putOffMs: number;
  /** Whoever has brought something about may have died before he looked. */
  readonly mayDie: boolean;
}

interface Due {
  readonly at: number;
  readonly what: string;
}

/** The watch is there, and no later than the end of any lease. @param graceFrom when a supervisor last noticed the end of an outage: leases from before get their length once more */
export function judgeLeases(plan: Plan, state: Snapshot, graceFrom: number): string[] {
  const { status, watchAt } = state.execution;
  if (isTerminal(status)) return [];
  if (watchAt === undefined) return ['S12 an open execution has no watch'];
  return leases(plan, state, graceFrom).flatMap((due) => lateness(watchAt, due));
}

const lateness = (watchAt: number, { at, what }: Due): string[] =>
  watchAt - at > CLOCKS_DIFFER_MS + CALL_MS ? [`S12 the watch is ${watchAt - at} ms later than ${what}`] : [];

/** The watch is no later than anything else that becomes due. */
export function judgeWake(plan: Plan, state: Snapshot, context: WakeContext): string[] {
  const { execution } = state;
  const { watchAt } = execution;
  if (isTerminal(execution.status) || watchAt === undefined) return [];
  const lookedAt = lookedAfterPause(plan, execution);
  const { now, putOffMs } = context;
  const work = isForward(execution.status) ? forwardDues(plan, state, context.mayDie) : undoDues(plan, state);
  return [...questionDues(state), ...work.map((due) => putOff(due, now, putOffMs))].flatMap((due) =>
    lateness(watchAt, { ...due, at: Math.max(due.at, lookedAt) }),
  );
}

const putOff = (due: Due, now: number, putOffMs: number): Due =>
  due.at <= now + CLOCKS_DIFFER_MS ? { ...due, at: Math.max(due.at, now) + putOffMs } : due;

/** The defaults of open questions, and the end of a pause about which none was asked yet. */
function questionDues(state: Snapshot): Due[] {
  const { execution, incidents = {} } = state;
  const isPaused = execution.status === 'pausing' || execution.status === 'paused';
  const dues = openIncidents(state)
    .filter(({ kind }) => !isPaused || kind === 'pause')
    .map(({ deadlineAt }) => ({ at: deadlineAt, what: 'the default of a question' }));
  const pause = execution.status === 'paused' ? execution.pauses?.at(-1) : undefined;
  const isAsked = Object.values(incidents).some(
    ({ kind, stepVersion }) => kind === 'pause' && stepVersion === pause?.number,
  );
  if (pause?.deadlineAt !== undefined && !isAsked)
    dues.push({ at: pause.deadlineAt, what: 'the end of a pause' });
  return dues;
}

function leases(plan: Plan, { steps }: Snapshot, graceFrom: number): Due[] {
  const dues: Due[] = [];
  for (const step of plan.steps) {
    const leaseUntil = steps[step.name]?.leaseUntil;
    if (leaseUntil === undefined || step.kind !== 'step') continue;
    const isFromBefore = leaseUntil < graceFrom + CLOCKS_DIFFER_MS;
    const untilAt = isFromBefore ? Math.max(leaseUntil, graceFrom + longestLease(step)) : leaseUntil;
    // Whoever saw the lease counts the margin; whoever did not, nothing.
    dues.push({
      at: isFromBefore ? untilAt + LEASE_MARGIN_MS : untilAt,
      what: `the end of the lease of '${step.name}'`,
    });
  }
  return dues;
}

/** On whichever rung. */
const longestLease = ({ leaseMs, ladder }: AgentStep): number =>
  Math.max(leaseMs, ...ladder.map((rung) => (rung.kind === 'useAgent' ? rung.leaseMs : 0)));

/** What becomes due while the execution goes forward. */
function forwardDues(plan: Plan, state: Snapshot, mayDie: boolean): Due[] {
  const { execution, steps } = state;
  const dues: Due[] = [];
  // Whoever brought its turn about may have died before the look that says so.
  const unseenMs = mayDie ? horizonOf(plan) : 0;
  const isFree = plan.steps.every(({ pointOfNoReturn }) => pointOfNoReturn !== true);
  if (isFree) dues.push({ at: execution.deadlineAt, what: 'its deadline' });
  // What a failure waits for is not reckoned here.
  const hasFailed = plan.steps.some(({ name }) => steps[name]?.status === 'failed');
  for (const step of plan.steps) {
    const record = countedAs(step, steps[step.name], execution);
    const sinceAt = turnOf(plan, step, state);
    if (sinceAt === undefined || !applies(step, state)) continue;
    if (step.kind === 'wait' && record === undefined && step.forMs !== undefined)
      dues.push({ at: sinceAt + Math.max(step.forMs, unseenMs), what: `the time of '${step.name}'` });
    if (step.kind === 'step' && (isFree || !hasFailed)) {
      const due = forwardDue(step, record, sinceAt, execution);
      if (due !== undefined) dues.push({ at: due, what: `the next try of '${step.name}'` });
    }
  }
  return dues;
}

const IDLE_HORIZON_MS = 60_000;

/** Whoever ends a pause looks; should he die, somebody does after a lease or pickup time of the plan. */
function lookedAfterPause(plan: Plan, { pauses }: Execution): number {
  const endedAt = pauses?.at(-1)?.endedAt;
  return endedAt === undefined ? 0 : endedAt + horizonOf(plan);
}

/** Within this somebody looks at what was written last: of each step the shorter of lease and pickup time, the longest of these. */
function horizonOf({ steps }: Plan): number {
  const spans = steps.flatMap((step) =>
    step.kind === 'step' ? [Math.min(step.leaseMs, step.pickupMs)] : [],
  );
  return spans.length === 0 ? IDLE_HORIZON_MS : Math.max(...spans);
}

/** Since when it is the step's turn; nothing while it is not. */
export function turnOf(plan: Plan, step: PlanStep, { execution, steps }: Snapshot): number | undefined {
  let at = Math.max(execution.startedAt, execution.retries?.at(-1)?.at ?? 0);
  for (const name of step.after) {
    const { status = 'ready', changedAt = 0 } = steps[name] ?? {};
    const isOver = status === 'done' || status === 'skipped';
    const isGivenUp = ['failed', 'undoing', 'undone', 'undo-failed'].includes(status);
    if (!isOver && !(plan.tolerated !== undefined && isGivenUp)) return undefined;
    at = Math.max(at, changedAt);
  }
  return at;
}

/** What a record counts as after a pause, or after a retry of its execution; nothing for one that begins anew. */
function countedAs(step: PlanStep, record: Step | undefined, execution: Execution): Step | undefined {
  if (record === undefined || record.status === 'ready') return undefined;
  if (record.status === 'held') {
    if ((record.heldFrom ?? 'ready') === 'ready') return undefined;
    const changedAt = Math.max(record.changedAt, execution.pauses?.at(-1)?.endedAt ?? 0);
    return { ...record, status: record.heldFrom ?? 'ready', changedAt };
  }
  const isStale = record.epoch < execution.epoch && ['failed', 'sealed'].includes(record.status);
  if (!isStale) return record;
  if (!record.mayHaveActed || step.kind !== 'step') return undefined;
  const { retryAt: _, parked: _parked, ...rest } = record;
  const changedAt = Math.max(record.changedAt, execution.retries?.at(-1)?.at ?? 0);
  const status = agentOn(step, record.rung).effect === 'idempotent' ? 'retrying' : 'unknown';
  return { ...rest, status, changedAt };
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
  if (record.status !== 'retrying' && record.status !== 'unknown') return undefined;
  return sentAt(step, record, record.status === 'unknown' ? 'probe' : 'execute', record.changedAt, execution);
}

/** A piece of work that waits: when a message comes, or if none came, another one. */
function sentAt(step: AgentStep, record: Step, mode: Mode, sinceAt: number, execution: Execution): number {
  const isParked = record.parked?.mode === mode;
  // Whoever held it back looks, too; should he die, somebody does after this.
  const seenAt = isParked ? record.changedAt + Math.min(step.leaseMs, step.pickupMs) : 0;
  const dueAt = Math.max(sinceAt, record.retryAt ?? 0);
  const nobodySent = isParked || dueAt - sinceAt > LONGEST_DELAY_MS;
  const { pickupMs } = agentOn(step, record.rung);
  const firstAt = nobodySent ? Math.max(dueAt, seenAt) : dueAt + pickupMs;
  return dispatchedAt(step, mode, isParked ? dueAt : sinceAt, pickupMs, execution, firstAt);
}

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
function undoDues(plan: Plan, state: Snapshot): Due[] {
  const { execution, steps } = state;
  if (execution.status !== 'undoing' || plan.tolerated !== undefined) return [];
  const stays = execution.cause?.undo === false || plan.steps.some((step) => step.pointOfNoReturn === true);
  const dues: Due[] = [];
  for (const step of plan.steps) {
    const record = steps[step.name];
    if (step.kind !== 'step' || record === undefined || record.leaseUntil !== undefined || stays) continue;
    if (record.parked?.mode === 'undo' && record.undoParkedAt !== undefined)
      dues.push({ at: record.undoParkedAt + DAY_MS, what: `a day of waiting to undo '${step.name}'` });
    const isBegun = record.status === 'undoing';
    if (!isBegun && record.status !== 'done') continue;
    if (agentOn(step, record.rung).undo === 'none') continue;
    const clearAt = isBegun ? 0 : clearOf(plan, step, state);
    if (clearAt === undefined) continue;
    const sinceAt = Math.max(record.changedAt, clearAt, execution.cause?.at ?? 0);
    const quietAt = record.mayHaveActed ? record.hardEndAt + agentOn(step, record.rung).settleMs : 0;
    const { retryAt: _, ...fresh } = record;
    const isTimed = isBegun || record.parked?.mode === 'undo';
    const from = {
      ...(isTimed ? record : fresh),
      retryAt: Math.max((isTimed ? record.retryAt : 0) ?? 0, quietAt),
    };
    dues.push({
      at: sentAt(step, from, 'undo', sinceAt, execution),
      what: `the undo of '${step.name}'`,
    });
  }
  return dues;
}

/** When all that depends on it was clear; nothing while it is not. */
function clearOf(plan: Plan, step: PlanStep, state: Snapshot): number | undefined {
  if (reasonsAgainstUndo(plan, state, step.name, Number.POSITIVE_INFINITY).length > 0) return undefined;
  let at = 0;
  for (const other of plan.steps) {
    const record = state.steps[other.name];
    // Any of the plan: one that has nothing to do with it makes the bound later, never earlier.
    const quietAt =
      record?.mayHaveActed === true && other.kind === 'step'
        ? record.hardEndAt + agentOn(other, record.rung).settleMs
        : 0;
    at = Math.max(at, record?.changedAt ?? 0, quietAt);
  }
  return at;
}
