/**
 * Invocations in containers: each has a worker that kills it when its lease is lost, finds it dead when it
 * dies by itself, and records the death: at once, late, twice, or never, because then the worker has died as
 * well.
 *
 * Owns: which steps and invocations, what the worker does and when; which processes run author's code, and
 * that no deadline is lowered below theirs. Does not own: what a death writes (`core/step/report.ts`),
 * which worlds have containers (`traits.ts`). It draws from its own random stream, so other worlds are
 * unchanged.
 */

import type { AttemptListener } from '../../lib/agent/author-code.ts';
import type { AttemptContext, Implementation } from '../../lib/core/plan/agent.ts';
import type { AgentStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { ClaimedAttempt } from '../../lib/core/decisions/events.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { recordDeath } from '../../lib/engine/death.ts';
import { LOST_GRACE_MS } from '../../lib/worker/attempt-process.ts';
import type { Emphasis } from './emphasis.ts';
import type { KindCounts } from './kinds.ts';
import type { Choice } from './plans.ts';
import { type Host, kill, newProcess, portsOf, type Process } from './process.ts';

/** The frequent faults where there are containers. */
export const CONTAINER_RATES: Emphasis['rates'] = {
  crashAfter: 0.03,
  frozenAgent: 0.1,
  slowService: 0.9,
  wedgedAgent: 0.6,
};

const SHARE = 0.8;
const STALLING_SHARE = 0.9;
/** The whole container dies: nothing is recorded. */
const FORGOTTEN_SHARE = 0.1;
const LATE_SHARE = 0.8;
/**
 * The delay of a late record: long enough for another attempt to begin, mostly before the process deadline.
 */
const LATE_MS = [8_000, 40_000] as const;
/** The share of late records that come just after another attempt has begun. */
const BESIDE_SHARE = 0.85;
const BESIDE_MS = 150_000;
const LOOK_MS = 500;
const TWICE_SHARE = 0.2;
/** The process deadline in containers; an unrecorded death is waited for until then. */
const LIFE_MS = 300_000;

/** Changes steps so that a stalled one is retried soon, while the earlier process may still be alive. */
export function withContainers(plan: Plan, choice: Choice): Plan {
  const steps = plan.steps.map((step): PlanStep => {
    if (step.kind === 'child') return { ...step, plan: withContainers(step.plan, choice) };
    if (step.kind === 'map' && step.each.kind === 'agent')
      return { ...step, each: stalling(step.each, choice) };
    return step.kind === 'agent' ? stalling(step, choice) : step;
  });
  return { ...plan, steps };
}

function stalling(step: AgentStep, choice: Choice): AgentStep {
  const isAsked = step.effect === 'probed' && choice.chance(0.4);
  if (step.effect === 'unsafe' || isAsked || !choice.chance(STALLING_SHARE)) return step;
  const { maxNoProgressMs: _, ...rest } = step;
  const again = { kind: 'retry', attempts: choice.between(3, 6), firstMs: 500, maxMs: 2_000 } as const;
  const others = step.recovery[0]?.kind === 'retry' ? step.recovery.slice(1) : step.recovery;
  const stall = choice.chance(0.9) ? { maxNoProgressMs: 3_000 } : {};
  const repeated =
    step.effect === 'probed' ? { effect: 'idempotent' as const, agent: 'agent-idempotent' } : {};
  return { ...rest, ...repeated, ...stall, leaseMs: 5_000, pickupMs: 5_000, recovery: [again, ...others] };
}

export interface Container {
  readonly listener: AttemptListener;
  /** Called when the message has been handled. */
  readonly over: () => void;
}

/** The worker of an invocation; undefined outside containers. */
export function containerOf(host: Host, process: Process): Container | undefined {
  const { containers, events } = host;
  if (containers === undefined || !containers.chance(SHARE)) return undefined;
  let attempt: ClaimedAttempt | undefined;
  let isLost = false;
  process.processDeadlineAt = events.now + LIFE_MS;
  process.onDeath = () => {
    if (attempt !== undefined) mourn(host, process, attempt);
  };
  return {
    listener: {
      claimed: (claimed) => {
        attempt = claimed;
      },
      leaseLost: () => {
        isLost = true;
        events.plan(LOST_GRACE_MS, () => kill(host, process));
      },
    },
    over: () => {
      // Kills the process if it has lost its lease; otherwise it has finished its attempt.
      if (isLost) kill(host, process);
      else attempt = undefined;
    },
  };
}

function mourn(host: Host, { skewMs }: Process, attempt: ClaimedAttempt): void {
  const { containers: choice, events } = host;
  if (choice === undefined || choice.chance(FORGOTTEN_SHARE)) return;
  const record = (): void => {
    // The worker is on the same machine as the invocation, so it has the same clock.
    const worker = { ...newProcess(host, LIFE_MS), skewMs };
    void recordDeath(portsOf(host, worker), host.plans, attempt);
  };
  const isLate = choice.chance(LATE_SHARE);
  const afterMs = isLate ? choice.between(...LATE_MS) : choice.between(5, 500);
  if (isLate && choice.chance(BESIDE_SHARE)) whenBeside(host, attempt, record);
  else events.plan(afterMs, record);
  if (choice.chance(TWICE_SHARE)) events.plan(afterMs + choice.between(0, 60_000), record);
}

/** Records the death after another attempt has begun, or after a limited time. */
function whenBeside(
  { events, external }: Host,
  { executionId, step, token }: ClaimedAttempt,
  record: () => void,
): void {
  const untilAt = events.now + BESIDE_MS;
  const look = (): void => {
    const known = external.table.read(executionId)?.steps[step];
    const isBeside = known?.token !== token && known?.leaseUntil !== undefined;
    if (isBeside || events.now >= untilAt) record();
    else events.plan(LOOK_MS, look);
  };
  look();
}

/** Counts a death: during the lease it ends an attempt; later it only changes the process deadline. */
export function countDeath(kinds: KindCounts, what: string, mode: string | undefined): void {
  if (what === 'process-died') kinds[mode === undefined ? 'deathLater' : 'deathUnderLease'] += 1;
}

/** The processes that run author's code, by execution and step. */
export class Running {
  readonly #processes = new Map<string, Set<Process>>();

  /** Wraps an agent to record its running calls, except probes, because they have no effects. */
  watched(process: Process, real: Implementation<unknown, unknown>): Implementation<unknown, unknown> {
    const { probe, undo } = real;
    return {
      execute: (ctx, input) => this.#while(process, ctx, () => real.execute(ctx, input)),
      ...(probe === undefined ? {} : { probe: (ctx, input) => probe.call(real, ctx, input) }),
      ...(undo === undefined
        ? {}
        : {
            undo: (ctx, input, output) =>
              this.#while(process, ctx, () => undo.call(real, ctx, input, output)),
          }),
    };
  }

  async #while<Answer>(
    process: Process,
    about: AttemptContext,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const place = `${about.executionId}/${about.step}`;
    const here = this.#processes.get(place) ?? new Set();
    this.#processes.set(place, here.add(process));
    try {
      return await work();
    } finally {
      here.delete(process);
    }
  }

  /** @param now true time */
  judge(
    problems: string[],
    before: Snapshot,
    { executionId, step: after }: Write,
    kinds: KindCounts,
    now: number,
  ): void {
    const known = after && before.steps[after.name];
    if (after === undefined || known === undefined) return;
    if (isOlderLowered(known, after)) kinds.deathOfOlder += 1;
    if (after.processDeadlineAt >= known.processDeadlineAt) return;
    for (const { dead, processDeadlineAt } of this.#processes.get(`${executionId}/${after.name}`) ?? []) {
      if (dead || now >= processDeadlineAt || processDeadlineAt <= after.processDeadlineAt) continue;
      const ms = Math.round(processDeadlineAt - after.processDeadlineAt);
      problems.push(`S10 the process deadline of '${after.name}' is ${ms} ms before that of code that runs`);
    }
  }
}

/** Whether the process deadline of an attempt other than the latest was lowered. */
const isOlderLowered = (before: Step, after: Step): boolean =>
  after.token === before.token &&
  (after.processes ?? []).some(
    ({ token, deadlineAt }) =>
      token !== undefined &&
      token !== (after.mode === 'probe' ? after.actedToken : after.token) &&
      (before.processes ?? []).some((one) => one.token === token && one.deadlineAt > deadlineAt),
  );
