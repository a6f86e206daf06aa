/**
 * One attempt from its claim to its report: the author's code, its time limit, and the beats that keep the lease.
 *
 * Owns: when the author's signal is aborted, when beats begin and end, what is reported when time is over. Does not own:
 * what a beat or a report writes (`core/step/claim.ts`), the meaning of the author's answer (`author-code.ts`).
 *
 * No beat is sent after its attempt: the loop is stopped before the report.
 */

import { decide } from '../core/decide.ts';
import type { AttemptContext, AttemptLog } from '../core/plan/agent.ts';
import { agentStep, type AgentStep, type Plan } from '../core/plan/plan.ts';
import { evaluate } from '../core/plan/refs.ts';
import type { Ports } from '../core/ports.ts';
import type { Hold, Progress, Report } from '../core/records/events.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { HeldStep } from '../core/records/state.ts';
import { cut } from '../core/records/text.ts';
import { effectKeyOf } from '../core/step/effect-key.ts';
import { beatEveryMs } from '../core/step/lease.ts';
import { attemptedStage } from '../core/step/recovery.ts';
import { scopeOf } from '../core/step/turn.ts';
import { commit, withWrite } from '../engine/commit.ts';
import { stampOf } from '../engine/stamp.ts';
import { type LogContext, perform, type Worker } from './author-code.ts';
import { Latch } from './latch.ts';

/** What the holder of a step knows; `state` follows its own beats. */
export interface Holding {
  readonly plan: Plan;
  /** As it is for this attempt. */
  readonly planStep: AgentStep;
  readonly token: string;
  readonly priorHardEndAt: number;
  readonly hardEndAt: number;
  /** The agent's service is dead, as the attempt has found. */
  hold?: Hold;
  state: Snapshot;
}

const MAX_TOKEN_CHARS = 200;
/** After the abort, for the author's code to return. */
const ABORT_GRACE_MS = 2_000;
/** For a beat under way when the author's code has returned. */
const BEAT_PATIENCE_MS = 1_000;
/** Kept of the process's time for the report. */
const REPORT_RESERVE_MS = 1_500;

export function holding(
  plan: Plan,
  state: Snapshot,
  step: HeldStep,
  priorHardEndAt: number,
  hardEndAt: number,
): Holding | undefined {
  const planned = agentStep(plan, step.name);
  const planStep = planned && attemptedStage(planned, step);
  return planStep && { plan, planStep, token: step.token, priorHardEndAt, hardEndAt, state };
}

export interface Ran {
  readonly report: Report;
  /** Settles when the author's function has returned, which after a time-out may be long after the report. */
  readonly work: Promise<unknown>;
  /** The lease was lost: whatever failed afterwards, we made it fail. */
  readonly lost: boolean;
}

/** Runs the author's code under the lease. Never rejects. */
export async function runAttempt(ports: Ports, worker: Worker, held: Holding): Promise<Ran> {
  const { planStep, state } = held;
  const record = state.steps[planStep.name] as HeldStep;
  const abort = new AbortController();
  const finished = new Latch();
  const pulse: Pulse = {};
  const about = { executionId: state.execution.id, step: planStep.name, attempt: record.attempt };
  let log: AttemptLog | undefined;
  const ctx: AttemptContext = {
    ...about,
    effectKey: effectKeyOf(state.execution, planStep.name, record.key),
    // Made when it is first asked for: not all code listens.
    get signal() {
      return abort.signal;
    },
    get log() {
      return (log ??= logOf(worker, { ...about, mode: record.mode }));
    },
    progress: (token) => {
      pulse.progress = { token: cut(String(token), MAX_TOKEN_CHARS), at: ports.clock.now() };
      pulse.wake?.();
    },
  };
  let lost = false;
  const beats = keepLease(ports, held, pulse, finished, () => {
    lost = true;
    abort.abort();
  });
  const input = record.keyInput === undefined ? evaluate(planStep.input, scopeOf(state)) : record.keyInput;
  const work = perform(worker, { mode: record.mode, ctx, input, output: record.output });
  const report = await inTime(ports, work, abort, finished, timeLimitMs(ports, held));
  finished.end();
  // A beat that hangs is left behind: its write loses against the report's, or the report's is tried again.
  await Promise.race([beats, ports.clock.sleep(BEAT_PATIENCE_MS)]);
  return { report, work, lost };
}

const nothing = (): void => undefined;
const SILENT: AttemptLog = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const logOf = (worker: Worker, context: LogContext): AttemptLog => worker.logOf?.(context) ?? SILENT;

const timeLimitMs = (ports: Ports, held: Holding): number =>
  Math.max(
    0,
    Math.min(
      held.planStep.timeoutMs,
      held.hardEndAt - ports.clock.now() - ABORT_GRACE_MS - REPORT_RESERVE_MS,
    ),
  );

async function inTime(
  ports: Ports,
  work: Promise<Report>,
  abort: AbortController,
  finished: Latch,
  limitMs: number,
): Promise<Report> {
  const first = await Promise.race([work, ports.clock.sleep(limitMs, finished).then(() => undefined)]);
  if (first !== undefined) return first;
  abort.abort();
  const second = await Promise.race([
    work,
    ports.clock.sleep(ABORT_GRACE_MS, finished).then(() => undefined),
  ]);
  const failure = { code: 'timeout', message: `the attempt took longer than ${Math.round(limitMs)} ms` };
  return second ?? { kind: 'unknown', settled: false, failure };
}

/** Between the author's code and the beats. */
interface Pulse {
  progress?: Progress;
  /** Ends the pause before the next beat. */
  wake?: (() => void) | undefined;
}

/**
 * Renews the lease until `stop`; calls `onLost` once when it is lost. A store that does not answer has taken nothing away:
 * the lease ends by its own clock and others may act on that, but the work goes on, and when the store is back it is
 * either renewed, if nobody has acted, or lost. Nothing else could be gained by an abort: what an attempt may still do is
 * bounded by `hardEnd`, not by its lease.
 */
async function keepLease(
  ports: Ports,
  held: Holding,
  pulse: Pulse,
  stop: Latch,
  onLost: () => void,
): Promise<void> {
  const { name } = held.planStep;
  const everyMs = beatEveryMs(held.planStep);
  let wait = true;
  while (!stop.aborted) {
    if (wait) await pause(ports, held, pulse, everyMs, stop);
    if (stop.aborted) return;
    const leftMs = Math.max(0, (held.state.steps[name]?.leaseUntil ?? 0) - ports.clock.now());
    const result = await Promise.race([
      beatOnce(ports, held, pulse.progress).catch(() => 'unanswered' as const),
      // A beat that hangs past the lease's end has not renewed it.
      ports.clock.sleep(leftMs > 0 ? leftMs + 1 : everyMs, stop).then(() => 'unanswered' as const),
    ]);
    if (result === 'lost' || held.state.steps[name]?.leaseUntil === undefined) return onLost();
    // After a lost race the state was read afresh and the token is still ours: beat again at once.
    wait = result !== 'conflict';
  }
}

/** A pause between beats; progress ends it when the lease would not last until the beat after the next. */
async function pause(ports: Ports, held: Holding, pulse: Pulse, everyMs: number, stop: Latch): Promise<void> {
  const over = new Latch();
  const end = (): void => over.end();
  const leaseUntil = held.state.steps[held.planStep.name]?.leaseUntil ?? 0;
  stop.addEventListener('abort', end);
  pulse.wake = () => {
    if (leaseUntil - ports.clock.now() < 2 * everyMs) end();
  };
  // Never past the lease's end: an attempt that has lost it is told at once.
  const leftMs = leaseUntil - ports.clock.now();
  await ports.clock.sleep(leftMs > 0 ? Math.min(everyMs, leftMs) : everyMs, over);
  pulse.wake = undefined;
  stop.removeEventListener('abort', end);
}

async function beatOnce(
  ports: Ports,
  held: Holding,
  progress: Progress | undefined,
): Promise<'beaten' | 'conflict' | 'lost'> {
  const step = held.planStep.name;
  const decision = decide(held.plan, held.state, {
    type: 'beat',
    step,
    token: held.token,
    ...(progress === undefined ? {} : { progress }),
    ...stampOf(ports),
  });
  if (decision.write === undefined) return 'lost';
  if ((await commit(ports, decision, held.state.execution)) === 'written') {
    held.state = withWrite(held.state, decision.write);
    return 'beaten';
  }
  const state = await ports.store.read(held.state.execution.id);
  if (state === undefined || state.steps[step]?.token !== held.token) return 'lost';
  held.state = state;
  return 'conflict';
}
