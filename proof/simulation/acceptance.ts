/**
 * The trait of worlds whose services accept work: changes their plans, and simulates the accepted work.
 *
 * Owns: the share of such steps; what a service accepts, how long it works, how the work ends, and its
 * effects. Does not own: which worlds have the trait (`traits.ts`), the judgement (`oracle-accepted.ts`,
 * `oracle-order.ts`). It draws from its own random stream, so other worlds are unchanged.
 */

import type { AttemptContext, Effect } from '../../lib/core/plan/agent.ts';
import { accepted, running, type Verdict } from '../../lib/core/plan/answers.ts';
import type { AgentStage, AgentStep, Plan, PlanStep, Stage } from '../../lib/core/plan/plan.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';
import { type Host, planOf, type Process } from './process.ts';

/** The fault rates in such worlds. */
export const ACCEPTANCE_RATES: Emphasis['rates'] = {
  crashAfter: 0.02,
  lostReply: 0.6,
  canceled: 0.25,
  duplicatedMessage: 0.2,
};

const STEP_SHARE = 0.85;
const NONE_SHARE = 0.1;
/** The share of steps with a probe instead of repeated requests. */
const PROBED_SHARE = 0.3;
export const TIMES_MS = [60_000, 180_000, 600_000, 2_400_000] as const;
/** The share of accepted work that stops reporting progress. */
const STALLING_SHARE = 0.25;
const STALLS_MS = [45_000, 120_000] as const;

export const ACCEPTING = 'agent-accepting-';

export const isAccepting = (agent: string): boolean => agent.startsWith(ACCEPTING);

export function withAcceptance(plan: Plan, choice: Choice): Plan {
  const steps = plan.steps.map((step): PlanStep => {
    if (step.kind === 'child') return { ...step, plan: withAcceptance(step.plan, choice) };
    if (step.kind === 'map' && step.each.kind === 'agent')
      return { ...step, each: accepting(step.each, choice) };
    return step.kind === 'agent' ? accepting(step, choice) : step;
  });
  const { onFailure } = plan;
  return onFailure === undefined
    ? { ...plan, steps }
    : { ...plan, steps, onFailure: onFailure.map((step) => accepting(step, choice, 0)) };
}

function accepting(step: AgentStep, choice: Choice, noneShare: number = NONE_SHARE): AgentStep {
  if (step.effect === 'unsafe' || !choice.chance(STEP_SHARE)) return step;
  const isNone = step.effect === 'none' || (step.undo === 'none' && choice.chance(noneShare));
  const lasting = step.effect === 'idempotent' && choice.chance(PROBED_SHARE) ? 'probed' : step.effect;
  const effect = isNone && step.pointOfNoReturn !== true ? 'none' : lasting;
  const { maxNoProgressMs: _, ...rest } = step;
  return {
    ...rest,
    effect,
    agent: `${ACCEPTING}${effect}`,
    acceptsMs: choice.pick(TIMES_MS),
    ...(choice.chance(PATIENT_SHARE) ? { leaseMs: 5_000, recovery: step.recovery.map(later) } : {}),
    ...(choice.chance(STALLING_SHARE) ? { maxNoProgressMs: choice.pick(STALLS_MS) } : {}),
  };
}

const later = (stage: Stage): Stage =>
  stage.kind === 'retry' ? { ...stage, firstMs: PATIENCE_MS, maxMs: PATIENCE_MS } : stage;

/** One piece of accepted work. */
interface Job {
  readonly at: number;
  readonly wedges: boolean;
  /** No probe of it can ever tell. */
  readonly isMute: boolean;
  state: 'running' | 'done' | 'never' | 'stopped';
}

const ACCEPTED_SHARE = 0.85;
const NEVER_SHARE = 0.2;
const WEDGED_SHARE = 0.2;
const MUTE_SHARE = 0.04;
const SAYS_SHARE = 0.5;
const UNSURE_SHARE = 0.1;
/** In seconds; the first is shorter than allowed. */
const WISHES_S = [1, 5, 30, 120] as const;
/** The share of processes that freeze after the answer has arrived. */
const FROZEN_SHARE = 0.65;
const FREEZES_MS = 400;
/** The share of steps whose next attempt is so late that the answer comes before it. */
const PATIENT_SHARE = 0.7;
const PATIENCE_MS = 60_000;

/** A request, as the service knows it. */
interface Request {
  readonly ctx: AttemptContext;
  readonly service: string;
  readonly effect: Effect;
  readonly drop: () => void;
}

/** The book of all services that accept work, by effect key. */
export class Jobs {
  readonly #choice: Choice;
  readonly #jobs = new Map<string, Job>();
  readonly #wishes = new Map<string, { readonly askAfter?: number }>();
  readonly #named = new WeakMap<Process, AttemptContext>();

  constructor(choice: Choice) {
    this.#choice = choice;
  }

  /** @returns the answer of `execute`; undefined if the work was done at once */
  taken(host: Host, request: Request): ReturnType<typeof accepted> | undefined {
    const choice = this.#choice;
    const { idempotencyKey } = request.ctx;
    const known = this.#jobs.get(idempotencyKey);
    if (known === undefined || known.state === 'never' || known.state === 'stopped') {
      if (!choice.chance(ACCEPTED_SHARE)) {
        const { now } = host.events;
        this.#jobs.set(idempotencyKey, { at: now, wedges: false, isMute: false, state: 'done' });
        return undefined;
      }
      this.#begin(host, request);
    } else if (known.state !== 'running') return undefined;
    return choice.chance(SAYS_SHARE)
      ? accepted({ token: `job-${idempotencyKey}`, askAfter: choice.pick([5, 20, 60, 300]) })
      : accepted();
  }

  #begin(host: Host, request: Request): void {
    const { events } = host;
    const choice = this.#choice;
    const { acceptsMs, isStoppable } = acceptedBy(host, request);
    const lasts = choice.pick([0.1, 0.3, 0.8, 0.8, 1.7]);
    const wantedMs = Math.max(4_000, Math.round(acceptsMs * lasts * choice.between(50, 120) * 0.01));
    // Work that cannot be stopped ends within its declared time.
    const ms = isStoppable ? wantedMs : Math.min(wantedMs, acceptsMs);
    const isCut = ms < wantedMs;
    const job: Job = {
      at: events.now,
      wedges: choice.chance(WEDGED_SHARE),
      isMute: choice.chance(MUTE_SHARE),
      state: 'running',
    };
    this.#jobs.set(request.ctx.idempotencyKey, job);
    const end = isCut || choice.chance(NEVER_SHARE) ? 'never' : 'done';
    events.plan(choice.between(1, ms - 1), () => act(host, request, job));
    events.plan(ms, () => {
      act(host, request, job);
      if (job.state !== 'running') return;
      job.state = end;
      if (end === 'never') request.drop();
    });
  }

  /** Stops work that was undone, or undone by hand. */
  stopped(idempotencyKey: string): void {
    const job = this.#jobs.get(idempotencyKey);
    if (job !== undefined) job.state = 'stopped';
  }

  /** Stops the work under every key of a step. @param key any of them */
  stoppedByHand(key: string): void {
    const place = key.replace(/-\d+$/, '');
    for (const known of this.#jobs.keys()) if (known.replace(/-\d+$/, '') === place) this.stopped(known);
  }

  freezes(): boolean {
    return this.#choice.chance(FROZEN_SHARE);
  }

  isDone(idempotencyKey: string): boolean {
    return this.#jobs.get(idempotencyKey)?.state === 'done';
  }

  /** A probe's answer about work in progress; undefined for other work. */
  asked({ events }: Host, idempotencyKey: string): Verdict<never> | undefined {
    const choice = this.#choice;
    const job = this.#jobs.get(idempotencyKey);
    this.#wishes.delete(idempotencyKey);
    if (job?.state !== 'running') return undefined;
    if (job.isMute || choice.chance(UNSURE_SHARE)) return { verdict: 'cannot-tell', reason: 'status 501' };
    const progress = job.wedges ? 0 : events.now - job.at;
    const wish = choice.chance(0.3) ? { askAfter: choice.pick(WISHES_S) } : {};
    this.#wishes.set(idempotencyKey, wish);
    return running({ ...(choice.chance(0.9) ? { progress } : {}), ...wish });
  }

  /** The service's latest wish for the next probe of work in progress; undefined if it has said nothing. */
  wishOf(idempotencyKey: string): { readonly askAfter?: number } | undefined {
    return this.#wishes.get(idempotencyKey);
  }

  /** Notes that a process has got a token, which its report brings. */
  named(process: Process, ctx: AttemptContext): void {
    this.#named.set(process, ctx);
  }

  /** P7 Once a process has handled its message, the token that it was given is in the record. */
  handled({ external, ledger }: Host, process: Process): void {
    const named = this.#named.get(process);
    this.#named.delete(process);
    const { execution, steps } = (named && external.table.read(named.executionId)) ?? {};
    const record = named && steps?.[named.step];
    if (execution === undefined || record?.status !== 'accepted' || record.restarted === true) return;
    const isOf = effectKeyOf(execution, record.name, record.key) === named?.idempotencyKey;
    if (isOf && record.attempt === named.attempt && record.accepted?.token === undefined)
      ledger.violations.push(
        `P7 ${named.idempotencyKey}: a process has reported a token, and it is not kept`,
      );
  }
}

/** Freezes the process until the end of its lease is recorded. */
export function freezePastLease(host: Host, process: Process, { executionId, step }: AttemptContext): void {
  const { events, external, faults } = host;
  const token = external.table.read(executionId)?.steps[step]?.token;
  const freeze = (): false => {
    const record = external.table.read(executionId)?.steps[step];
    const isLeased = record?.leaseUntil !== undefined && record.token === token;
    // Half of them answer when a probe has already found the work.
    if (!isLeased && process.frozenUntil > events.now)
      process.frozenUntil += host.accepting?.pick([0, 2_000]) ?? 0;
    if (!isLeased || faults.healed() || events.now >= process.processDeadlineAt) return false;
    process.frozenUntil = Math.max(process.frozenUntil, events.now + FREEZES_MS);
    events.plan(FREEZES_MS - 1, freeze);
    return false;
  };
  freeze();
}

/** How long a service may work for a step and its stages, and whether all this work can be stopped. */
function acceptedBy(
  host: Host,
  { ctx: { executionId, step }, service }: Request,
): { readonly acceptsMs: number; readonly isStoppable: boolean } {
  const plan = planOf(host, executionId);
  const found = [...(plan?.steps ?? []), ...(plan?.onFailure ?? [])].find(({ name }) => name === step);
  const agents = found?.kind === 'agent' ? [found, ...found.recovery.filter(isAgentStage)] : [];
  const all = agents.filter(({ agent }) => agent === service);
  const times = all.map(({ acceptsMs = DEFAULT_MS }) => acceptsMs);
  return {
    acceptsMs: times.length === 0 ? DEFAULT_MS : Math.min(...times),
    isStoppable: all.every(({ undo }) => undo !== 'none'),
  };
}

const DEFAULT_MS = 60_000;
const isAgentStage = (stage: Stage): stage is AgentStage => stage.kind === 'useAgent';

/** Performs the effect of accepted work that was not stopped, whatever its execution's status. */
function act(host: Host, { ctx, service, effect }: Request, { state }: Job): void {
  const plan = planOf(host, ctx.executionId);
  if (state !== 'running' || effect === 'none' || plan === undefined) return;
  host.order.performed(plan, ctx, service, false);
}
