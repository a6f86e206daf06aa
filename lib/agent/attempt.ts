/**
 * One attempt from its claim to its report: the author's code, its time limit, and the
 * heartbeats that keep the lease.
 *
 * Owns: when the author's signal is aborted, when heartbeats begin and end, what is reported when the time
 * runs out. Does not own: the writes of a heartbeat and a report (`core/step/`), the meaning of the author's
 * answer (`author-code.ts`).
 *
 * No heartbeat is sent after its attempt: the loop is stopped before the report.
 */

import { type AttemptContext, type AttemptLog, PROCESS_TIME_LEFT_MS } from '../core/plan/agent.ts';
import { formatDuration } from '../core/values/duration.ts';
import { performedStep } from '../core/plan/on-failure.ts';
import type { AgentStep, Plan } from '../core/plan/plan.ts';
import type { Ports } from '../core/ports.ts';
import type { Progress, Report } from '../core/decisions/events.ts';
import { defined } from '../core/values/defined.ts';
import { type Snapshot, withWrite } from '../core/records/snapshot.ts';
import { type LeasedStep, pauseOf, type NotBefore } from '../core/records/state.ts';
import { effectKeyOf, keyEpoch } from '../core/step/effect-key.ts';
import { awayMs } from '../core/values/away.ts';
import { heartbeatEveryMs, isAdvance } from '../core/step/lease.ts';
import { attemptedVariant } from '../core/step/recovery.ts';
import { timeOverAt } from '../core/step/within.ts';
import { commit } from '../engine/commit.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { decideWith } from '../engine/large-values.ts';
import { progressToken } from './answer.ts';
import type { LogContext, Worker } from './author-code.ts';
import { Latch } from './latch.ts';
import { performLoaded } from './task.ts';

/** The step's lease, as known to the process that has it; its heartbeats update `state`. */
export interface Claim {
  readonly plan: Plan;
  /** The step with the agent and the input of this attempt. */
  readonly planStep: AgentStep;
  readonly token: string;
  readonly processDeadlineAt: number;
  /** Set by the attempt when it finds that the agent's service is down. */
  notBefore?: NotBefore;
  state: Snapshot;
  /** For the report: when `state` was read, by the clock just before. */
  rereadAt?: number;
}

/** How long the author's code may take to return after the abort. */
const ABORT_GRACE_MS = 2_000;
/** How long to wait for a heartbeat under way once the author's code has returned. */
const HEARTBEAT_PATIENCE_MS = 1_000;
/** How long the report waits to read the execution; after that, the claim's snapshot counts. */
const READ_PATIENCE_MS = 1_000;
/** Part of the process's time that is reserved for the report. */
const REPORT_RESERVE_MS = 1_500;

export function claimOf(
  plan: Plan,
  state: Snapshot,
  step: LeasedStep,
  processDeadlineAt: number,
): Claim | undefined {
  const planned = performedStep(plan, step.name);
  const planStep = planned && attemptedVariant(planned, step);
  return planStep && { plan, planStep, token: step.token, processDeadlineAt, state };
}

export interface Ran {
  readonly report: Report;
  /** Settles when the author's function has returned, which after a time-out may be long after the report. */
  readonly work: Promise<Report>;
  /** True if the lease was lost. A later failure may then have been caused by our abort. */
  readonly lost: boolean;
}

/** Runs the author's code under the lease. Never rejects. */
export async function runAttempt(ports: Ports, worker: Worker, claim: Claim): Promise<Ran> {
  const { planStep, state } = claim;
  const record = state.steps[planStep.name] as LeasedStep;
  const abort = new AbortController();
  const finished = new Latch();
  const pulse: Pulse = {};
  const beganAt = ports.clock.now();
  const time = timeOf(ports, claim, () => awayMs(ports.away?.(), beganAt));
  const about = { executionId: state.execution.id, step: planStep.name, attempt: record.attempt };
  const context: LogContext = { ...about, mode: record.mode };
  let log: AttemptLog | undefined;
  const ctx: AttemptContext = {
    executionId: about.executionId,
    step: about.step,
    attempt: about.attempt,
    idempotencyKey: effectKeyOf(state.execution, planStep.name, record.key, keyEpoch(claim.plan, record)),
    timeLeftMs: () => leftOf(time, ports.clock.now()),
    // Creates the signal on first use: not all code listens.
    get signal() {
      return abort.signal;
    },
    get log() {
      return (log ??= logOf(worker, context));
    },
    progress: (token) => {
      const kept = progressToken(token);
      if (kept === undefined) return;
      // Until a heartbeat writes it, the highest number counts.
      const known = pulse.progress?.token;
      if (typeof known === 'number' && !isAdvance(known, kept)) return;
      pulse.progress = { token: kept, at: ports.clock.now() };
      pulse.wake?.();
    },
    ...acceptedFor(record),
    [PROCESS_TIME_LEFT_MS]: () => claim.processDeadlineAt + time.skippedMs() - ports.clock.now(),
  } as AttemptContext;
  let lost = false;
  worker.listener?.claimed({ executionId: about.executionId, step: about.step, token: claim.token });
  const heartbeats = keepLease(ports, claim, pulse, finished, () => {
    lost = true;
    worker.listener?.leaseLost();
    abort.abort();
  });
  const work = performLoaded(ports, worker, planStep, state, ctx);
  worker.underWay?.add(context);
  void work.then(() => worker.underWay?.delete(context));
  const report = await inTime(ports, work, abort, finished, claim, time);
  finished.end();
  if (pulse.isBeating === true) await withPatience(ports, heartbeats);
  return { report, work, lost };
}

/**
 * Stops waiting for a heartbeat that hangs: its write loses against the report's, or the report is retried.
 */
async function withPatience(ports: Ports, heartbeats: Promise<void>): Promise<void> {
  const over = new Latch();
  await Promise.race([heartbeats, ports.clock.sleep(HEARTBEAT_PATIENCE_MS, over)]);
  over.end();
}

/** Adds no field to the context of a step that has accepted no work. */
function acceptedFor({ accepted }: LeasedStep): Pick<AttemptContext, 'accepted'> {
  if (accepted === undefined) return {};
  const { token, at, progress } = accepted;
  return { accepted: { at, ...defined({ token, progress }) } };
}

const nothing = (): void => undefined;
const SILENT: AttemptLog = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const logOf = (worker: Worker, context: LogContext): AttemptLog => worker.logOf?.(context) ?? SILENT;

/** When the attempt must end; its signal and `timeLeftMs` follow this. */
interface AttemptTime {
  /** In epoch ms: when the step's time is over, as last read. A pause that began since moves it. */
  untilAt: number;
  /** In epoch ms: the attempt's deadline, regardless of the step's, not counting `skippedMs`. */
  readonly latestAt: number;
  /** How long this process slept since the attempt began; that time does not count. */
  readonly skippedMs: () => number;
}

function timeOf(
  ports: Ports,
  { planStep, processDeadlineAt, state }: Claim,
  skippedMs: () => number,
): AttemptTime {
  const latestAt = Math.min(
    ports.clock.now() + planStep.timeoutMs,
    processDeadlineAt - ABORT_GRACE_MS - REPORT_RESERVE_MS,
  );
  // The step's time bounds only attempts to execute: resolving an outcome has a time of its own.
  const isTimed = state.steps[planStep.name]?.mode === 'execute';
  return { untilAt: isTimed ? timeOverAt(planStep, state) : Number.POSITIVE_INFINITY, latestAt, skippedMs };
}

const leftOf = ({ untilAt, latestAt, skippedMs }: AttemptTime, now: number): number =>
  Math.max(0, Math.min(untilAt, latestAt + skippedMs()) - now);

/** Returns the author's report, or our own if the time is over and the author's code ignores the abort. */
async function inTime(
  ports: Ports,
  work: Promise<Report>,
  abort: AbortController,
  finished: Latch,
  claim: Claim,
  time: AttemptTime,
): Promise<Report> {
  const latestAt = (): number => time.latestAt + time.skippedMs();
  for (;;) {
    const limitMs = leftOf(time, ports.clock.now());
    const first = await Promise.race([work, ports.clock.sleep(limitMs, finished).then(() => undefined)]);
    if (first !== undefined) return first;
    if (latestAt() <= ports.clock.now()) break;
    // A part of that time does not count: it was skipped while this process slept.
    if (time.untilAt > ports.clock.now()) continue;
    const laterAt = await timeOverNow(ports, claim, finished);
    if (laterAt <= ports.clock.now()) break;
    time.untilAt = laterAt;
  }
  abort.abort();
  const second = await Promise.race([
    work,
    ports.clock.sleep(ABORT_GRACE_MS, finished).then(() => undefined),
  ]);
  // Names the limit that the author wrote, not the milliseconds that the clock counted.
  const limit =
    time.untilAt < latestAt()
      ? 'the time of its step'
      : `timeout: '${formatDuration(claim.planStep.timeoutMs)}'`;
  const failure = { code: 'timeout', message: `the attempt took longer than ${limit}` };
  if (second === undefined) return { kind: 'unknown', codeReturned: false, failure };
  // The author's code may pass on our signal's AbortError. We caused it, so report the limit instead.
  if (!('failure' in second) || second.failure?.code !== 'AbortError') return second;
  return { ...second, failure };
}

/**
 * Returns when the step's time is over, counting pauses since the claim; during a pause, when to ask again.
 * If the store does not answer, the time is over now.
 */
async function timeOverNow(ports: Ports, { planStep, state }: Claim, finished: Latch): Promise<number> {
  const execution = await Promise.race([
    ports.store.readExecution(state.execution.id).catch(() => undefined),
    ports.clock.sleep(READ_PATIENCE_MS, finished).then(() => undefined),
  ]);
  if (execution === undefined) return 0;
  const overAt = timeOverAt(planStep, { ...state, execution });
  const underWay = pauseOf(execution);
  if (underWay === undefined) return overAt;
  const leftMs = overAt - underWay.at;
  return leftMs <= 0 ? 0 : ports.clock.now() + Math.max(leftMs, heartbeatEveryMs(planStep));
}

/** Shared by the author's code and the heartbeats. */
interface Pulse {
  progress?: Progress;
  /** A heartbeat is under way. */
  isBeating?: boolean;
  /** Ends the pause before the next heartbeat. */
  wake?: (() => void) | undefined;
}

/**
 * Renews the lease until `stop`; calls `onLost` once when it is lost. If the store does not answer, the lease
 * expires by its own clock and others may act on that, but the work goes on: once the store is back, the
 * lease is renewed if no other process has acted, and is lost otherwise. An abort would gain nothing, because
 * `processDeadline`, not the lease, bounds what an attempt may still do.
 */
async function keepLease(
  ports: Ports,
  claim: Claim,
  pulse: Pulse,
  stop: Latch,
  onLost: () => void,
): Promise<void> {
  const { name } = claim.planStep;
  const everyMs = heartbeatEveryMs(claim.planStep);
  let wait = true;
  while (!stop.aborted) {
    if (wait) await pause(ports, claim, pulse, everyMs, stop);
    if (stop.aborted) return;
    const leftMs = Math.max(0, (claim.state.steps[name]?.leaseUntil ?? 0) - ports.clock.now());
    pulse.isBeating = true;
    const result = await Promise.race([
      heartbeatOnce(ports, claim, pulse.progress).catch(() => 'unanswered' as const),
      // Waits no longer than the lease: a heartbeat that hangs until then has not renewed it.
      ports.clock.sleep(leftMs > 0 ? leftMs + 1 : everyMs, stop).then(() => 'unanswered' as const),
    ]);
    pulse.isBeating = false;
    if (result === 'lost' || claim.state.steps[name]?.leaseUntil === undefined) return onLost();
    // After a lost race the state was read again and the token is still ours: send the next heartbeat at
    // once.
    wait = result !== 'conflict';
  }
}

/**
 * Pauses between heartbeats; progress ends the pause if the lease would expire before the heartbeat after the
 * next.
 */
async function pause(ports: Ports, claim: Claim, pulse: Pulse, everyMs: number, stop: Latch): Promise<void> {
  const over = new Latch();
  const end = (): void => over.end();
  const leaseUntil = claim.state.steps[claim.planStep.name]?.leaseUntil ?? 0;
  stop.addEventListener('abort', end);
  pulse.wake = () => {
    if (leaseUntil - ports.clock.now() < 2 * everyMs) end();
  };
  // Ends with the lease at the latest: an attempt that has lost its lease is aborted at once.
  const leftMs = leaseUntil - ports.clock.now();
  await ports.clock.sleep(leftMs > 0 ? Math.min(everyMs, leftMs) : everyMs, over);
  pulse.wake = undefined;
  stop.removeEventListener('abort', end);
}

async function heartbeatOnce(
  ports: Ports,
  claim: Claim,
  progress: Progress | undefined,
): Promise<'renewed' | 'conflict' | 'lost'> {
  const step = claim.planStep.name;
  const { decision } = await decideWith(ports, claim.plan, claim.state, {
    type: 'heartbeat',
    step,
    token: claim.token,
    ...defined({ progress, away: ports.away?.() }),
    ...decisionInputsOf(ports),
  });
  if (decision.write === undefined) return 'lost';
  if ((await commit(ports, decision, claim.state.execution)) === 'written') {
    claim.state = withWrite(claim.state, decision.write);
    return 'renewed';
  }
  const state = await ports.store.read(claim.state.execution.id);
  if (state === undefined || state.steps[step]?.token !== claim.token) return 'lost';
  claim.state = state;
  return 'conflict';
}
