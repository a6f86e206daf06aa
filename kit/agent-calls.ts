/**
 * Wraps the agents' code in a test: records every call, and applies the planned faults.
 *
 * Owns: the record of calls and of their logs, the planned faults and their order, the points around a call.
 * Does not own: turning an answer into a report (`agent/author-code.ts`), when a process runs (`driver.ts`).
 */

import type { KeysOf } from '../lib/core/values/options.ts';
import type {
  Agent,
  AgentSpec,
  AttemptContext,
  AttemptLog,
  Effect,
  Implementation,
} from '../lib/core/plan/agent.ts';
import { formatDuration } from '../lib/core/values/duration.ts';
import { isError, markOf, TransientError } from '../lib/core/values/errors.ts';
import type { Mode } from '../lib/core/records/state.ts';
import type { LogContext, Worker } from '../lib/agent/author-code.ts';
import type { Wire } from './external-world.ts';
import type { Host, Process } from './process.ts';

/** One call of an agent's code. */
export interface AgentCall {
  readonly agent: string;
  /** The agent's declared effect. */
  readonly effect: Effect;
  readonly on: Mode;
  readonly executionId: string;
  readonly step: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** When it began, in epoch ms of the test's time. */
  readonly at: number;
  /**
   * `returned`: the code ran to its end, even if its reply was lost. `refused`: it threw an error that means
   * "nothing was done". `threw`: any other error. `open`: it has not answered, or a fault prevented the call.
   */
  outcome: 'open' | 'returned' | 'refused' | 'threw';
  /** The result; absent if the call threw or never answered. */
  answer?: unknown;
}

/** A line that an agent's code wrote by `ctx.log`. */
export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly agent: string;
  readonly on: Mode;
  readonly executionId: string;
  readonly step: string;
  readonly attempt: number;
  /** When it was written, in epoch ms of the test's time. */
  readonly at: number;
}

/** Selects the calls that a planned fault affects. */
export interface FaultOptions {
  /** The number of calls; `Infinity` for all. @default 1 */
  readonly times?: number;
  /** The agent's function: 'execute', 'probe' or 'undo'. @default 'execute' */
  readonly on?: Mode;
  /** Affects only calls of this step. @default every step that the agent performs */
  readonly step?: string;
}

export const FAULT = {
  times: true,
  on: true,
  step: true,
} as const satisfies KeysOf<FaultOptions>;

export interface PlannedFault extends FaultOptions {
  readonly agent: string;
  readonly kind: 'fail' | 'lose-reply' | 'late' | 'hang' | 'slow' | 'die-before' | 'die-after';
  readonly error?: Error;
  readonly byMs?: number;
}

/** How long each call takes in the test's time, so that parallel steps overlap as in production. */
const CALL_MS = 10;

const never: Promise<never> = new Promise(() => undefined);

/** An error that does not mean "not done", so that the outcome is unknown. */
const lostReply = (): Error => new Error('the reply was lost (by the test)');

/** The error of a caller that gave up a request. The request may still reach the service. */
const givenUp = (lateMs: number): Error =>
  new Error(`the connection broke (by the test); the request takes effect ${formatDuration(lateMs)} later`);

/** The worker and the call that are using an idempotency key. */
interface AtWork {
  readonly process: Process;
  readonly spec: AgentSpec;
  readonly on: Mode;
  readonly about: string;
}

interface UnderWay {
  readonly settled: Promise<void>;
  readonly process: Process;
  waitsForTime: boolean;
}

export class AgentCalls {
  readonly book: AgentCall[] = [];
  readonly logged: LoggedLine[] = [];
  readonly #host: Host;
  readonly #faults: { readonly fault: PlannedFault; left: number }[] = [];
  readonly #underWay = new Set<UnderWay>();
  /** The latest worker for each idempotency key. */
  readonly #workers = new Map<string, AtWork>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** Plans a fault. Faults are applied in the order of planning. */
  plan(fault: PlannedFault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  /** The calls of authors' code that may answer without time passing in the test. */
  underWay(): readonly Promise<void>[] {
    return [...this.#underWay]
      .filter((call) => !call.waitsForTime && !call.process.isDead())
      .map((call) => call.settled);
  }

  /** Treats unanswered calls as waiting for the test's time. */
  giveUpWaiting(): void {
    for (const call of this.#underWay) call.waitsForTime = true;
  }

  /** Wraps an agent so that every call of its code passes through this class. */
  observed(worker: Worker, process: Process): Worker {
    const { agent, implementation } = worker;
    const { execute, probe, undo } = implementation;
    const call = <Answer>(on: Mode, ctx: AttemptContext, act: () => Promise<Answer>): Promise<Answer> =>
      this.#call(agent, process, on, ctx, act);
    const seen: Implementation<unknown, unknown> = {
      execute: (ctx, input) => call('execute', ctx, () => execute(ctx, input)),
      ...(probe === undefined ? {} : { probe: (ctx, input) => call('probe', ctx, () => probe(ctx, input)) }),
      ...(undo === undefined
        ? {}
        : { undo: (ctx, input, output) => call('undo', ctx, () => undo(ctx, input, output)) }),
    };
    return {
      agent,
      implementation: seen,
      logOf: (context) => this.#logOf(agent.spec.name, process, context),
    };
  }

  /** The log of a call. A dead process logs nothing. */
  #logOf(agent: string, process: Process, { mode: on, ...context }: LogContext): AttemptLog {
    const line =
      (level: LoggedLine['level']): AttemptLog['info'] =>
      (message, given = {}) => {
        const at = this.#host.world.clock.now();
        const fields = isError(given) ? { error: given } : given;
        if (!process.isDead()) this.logged.push({ level, message, fields, agent, on, ...context, at });
      };
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  }

  /** Passes a request from an agent's code to an external world of the test. */
  readonly wire: Wire = async (idempotencyKey, perform) => {
    const { injects, count } = this.#host;
    const worker = this.#workers.get(idempotencyKey);
    if (worker === undefined) return perform();
    const { process } = worker;
    const place = `request:${count('request')}`;
    const about = `a request while ${worker.about}`;
    if (injects(`before:${place}`, about)) process.kill();
    if (process.isDead()) return never;
    if (injects(`refused:${place}`, about)) throw new Error('connection refused (by the test)');
    if (worker.on !== 'probe' && this.#isLate(place, about, worker.spec)) {
      return this.#later(perform, this.#host.lateMs(worker.spec));
    }
    const answer = await perform();
    if (injects(`after:${place}`, about)) process.kill();
    if (process.isDead()) return never;
    if (injects(`unanswered:${place}`, about)) throw lostReply();
    return answer;
  };

  async #call<Answer>(
    { spec }: Agent,
    process: Process,
    on: Mode,
    ctx: AttemptContext,
    act: () => Promise<Answer>,
  ): Promise<Answer> {
    const { injects, count, names, world } = this.#host;
    const { executionId, step, attempt, idempotencyKey } = ctx;
    const entry: AgentCall = {
      agent: spec.name,
      effect: spec.effect,
      on,
      executionId,
      step,
      attempt,
      idempotencyKey,
      at: world.clock.now(),
      outcome: 'open',
    };
    const place = `${on}:${count(on)}`;
    const about = `${spec.name} ${on === 'execute' ? 'executes' : `${on}s`} ${names.quoted(executionId, step)}, attempt ${attempt}`;
    if (injects(`before:${place}`, about)) process.kill();
    if (on === 'execute' && injects(`frozen:${place}`, about)) {
      process.freezeUntil(world.clock.now() + 2 * spec.leaseMs);
    }
    await process.alive();
    this.book.push(entry);
    await process.ports.clock.sleep(CALL_MS);
    const fault = this.#take(spec.name, on, step);
    await this.#faultBefore(fault, process);
    this.#workers.set(idempotencyKey, { process, spec, on, about });
    const work = (): Promise<Answer> => this.#track(entry, process, act);
    if (fault?.kind === 'late') return this.#later(work, fault.byMs ?? 0);
    if (on !== 'probe' && this.#isLate(place, about, spec)) return this.#later(work, this.#host.lateMs(spec));
    const answer = await work();
    if (injects(`after:${place}`, about) || fault?.kind === 'die-after') process.kill();
    await process.alive();
    if (fault?.kind === 'lose-reply') throw lostReply();
    if (on !== 'probe' && injects(`unanswered:${place}`, about)) throw lostReply();
    return answer;
  }

  #isLate(place: string, about: string, spec: AgentSpec): boolean {
    const lateMs = this.#host.lateMs(spec);
    const how = `${about}, and the effect comes ${formatDuration(lateMs)} after the caller has given up`;
    return this.#host.injects(`late:${place}`, how, adviceOn(spec, lateMs));
  }

  /** Throws at once, and does the work this much later, even if the process is dead by then. */
  #later(work: () => Promise<unknown>, lateMs: number): never {
    void this.#host.world.clock
      .sleep(lateMs)
      .then(work)
      .catch(() => undefined);
    throw givenUp(lateMs);
  }

  async #faultBefore(fault: PlannedFault | undefined, process: Process): Promise<void> {
    switch (fault?.kind) {
      case 'fail':
        throw fault.error ?? new TransientError('failed by the test');
      case 'hang':
        return never;
      case 'die-before':
        process.kill();
        return process.alive();
      case 'slow':
        return process.ports.clock.sleep(fault.byMs ?? 0);
      case 'lose-reply':
      case 'late':
      case 'die-after':
      case undefined:
    }
  }

  async #track<Answer>(entry: AgentCall, process: Process, act: () => Promise<Answer>): Promise<Answer> {
    let settle = (): void => undefined;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const call: UnderWay = { settled, process, waitsForTime: false };
    this.#underWay.add(call);
    try {
      const answer = await act();
      Object.assign(entry, { outcome: 'returned', answer });
      return answer;
    } catch (error) {
      entry.outcome = ['transient', 'permanent'].includes(markOf(error) ?? '') ? 'refused' : 'threw';
      throw error;
    } finally {
      this.#underWay.delete(call);
      settle();
    }
  }

  #take(agent: string, on: Mode, step: string): PlannedFault | undefined {
    const found = this.#faults.find(
      ({ fault, left }) =>
        left > 0 &&
        fault.agent === agent &&
        (fault.on ?? 'execute') === on &&
        (fault.step === undefined || fault.step === step),
    );
    if (found !== undefined) found.left -= 1;
    return found?.fault;
  }
}

/**
 * Advice for the agent's author if effects this late do harm; undefined if `lateEffectWithin` covers them.
 */
const adviceOn = ({ name, settleMs }: AgentSpec, lateMs: number): string | undefined =>
  lateMs <= settleMs
    ? undefined
    : `agent '${name}' has lateEffectWithin: '${formatDuration(settleMs)}', and its service may act ${formatDuration(lateMs)} after its caller is gone: write lateEffectWithin: '${formatDuration(lateMs)}' or more`;
