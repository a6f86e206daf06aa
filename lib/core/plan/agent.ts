/**
 * An author's declaration of an agent: its contract and its time limits. The implementation is attached
 * elsewhere (`handler`), so that workflows, the scheduler and `cdk synth` never load it.
 *
 * Owns: `AgentSpec`, its defaults and its refusals, and the inputs of an implementation (`AttemptContext`).
 * Does not own: its answers (`answers.ts`), how an attempt is run (`agent/message.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defined } from '../values/defined.ts';
import { type Duration, parseDuration } from '../values/duration.ts';
import { refuse } from '../values/errors.ts';
import { checkName } from '../values/names.ts';
import { type Accepted, MIN_ASK_AFTER_MS, type Verdict } from './answers.ts';
import { type KeysOf, optionProblem } from '../values/options.ts';

/**
 * `idempotent`: the same idempotency key has its effect once, however often it is sent, so an unknown outcome
 * may be retried. `probed`: the external service does not deduplicate, so `probe` resolves an unknown outcome
 * first. `unsafe`: the service can neither deduplicate nor be asked, so only a person can say what follows an
 * unknown outcome. `none`: no lasting effect outside, so repeating it, or leaving it, is harmless.
 */
export type Effect = 'idempotent' | 'probed' | 'unsafe' | 'none';
export const EFFECTS: readonly Effect[] = ['idempotent', 'probed', 'unsafe', 'none'];

/** The declaration of an agent: its contract, the kind of its effect, and its times. */
export interface AgentOptions<I, O> {
  /** Any Standard Schema: zod, valibot, arktype, … An input that does not fit is refused. */
  readonly input: StandardSchemaV1<unknown, I>;
  /** Any Standard Schema. An answer that does not fit is a failure, although the work may be done. */
  readonly output: StandardSchemaV1<unknown, O>;
  /**
   * An attempt's effect outside, and so what may follow if its outcome is unknown (it died, or its
   * answer was lost). 'idempotent': the service takes `ctx.idempotencyKey` and acts once for it, so it is
   * asked again. 'probed': the service does not, but can say whether it has acted, so `probe` is asked first.
   * 'unsafe': neither, so a person is asked. 'none': it leaves nothing, so it is repeated or left.
   */
  readonly effect: Effect;
  /**
   * One attempt's longest time; it also sets the function's timeout. Up to 14m, in a container up to 24h.
   * @default '1m'
   */
  readonly timeout?: Duration;
  /**
   * 'container': a long-lived worker takes its messages, for work past 14
   * minutes, for a GPU, for large files.
   * @default 'lambda'
   */
  readonly runsIn?: 'lambda' | 'container';
  /**
   * true: its code runs in processes of its own, which can be killed, for code that computes for long or may
   * never return. On AWS a function that starts such a process knows at once when it dies, and the next stage
   * does not wait for the function's timeout.
   * @default false; true in a container
   */
  readonly isolate?: boolean;
  /**
   * How long an attempt may be silent before it counts as dead. Heartbeats are automatic, three per lease.
   * @default '30s'
   */
  readonly lease?: Duration;
  /**
   * How long a message may stay unclaimed before it is sent again.
   * @default '30s'
   */
  readonly claimWithin?: Duration;
  /**
   * How long a request that is under way may still take effect after its sender is dead.
   * @default '5s'
   */
  readonly lateEffectWithin?: Duration;
  /**
   * How long an attempt that renews its lease may go without a new `ctx.progress` before it counts as stuck.
   * A number must grow.
   * @default no limit: being alive is enough
   */
  readonly progressWithin?: Duration;
  /**
   * `execute` may return `accepted({ token, askAfter })`: the service has taken the work and will do it. Then
   * the attempt ends, and `probe`, which the handler must have, is asked until the work is over; after this
   * time it counts as an unknown outcome, and `undo` must stop it.
   * @default an accepted answer is refused
   */
  readonly acceptedWithin?: Duration;
  /**
   * 'none' where there is nothing to compensate (a mail cannot be unsent).
   * @default 'required': the handler must have `undo`; with effect 'none' there is nothing to undo
   */
  readonly undo?: 'required' | 'none';
  /**
   * Only for an 'idempotent' agent, and only where a step goes on with `withInput` or `useAgent`. With
   * 'required' the handler must have `probe`, so that an unknown outcome can be resolved first. With 'none'
   * those variants follow only errors that say "not done".
   * @default 'required' for a 'probed' agent, whose effect says so; the handler of an 'idempotent' agent may
   * have one
   */
  readonly probe?: 'required' | 'none';
}

const OPTIONS = {
  input: true,
  output: true,
  effect: true,
  timeout: true,
  runsIn: true,
  isolate: true,
  lease: true,
  claimWithin: true,
  lateEffectWithin: true,
  progressWithin: true,
  acceptedWithin: true,
  undo: true,
  probe: true,
} as const satisfies KeysOf<AgentOptions<unknown, unknown>>;

/** The agent as data: everything about it that the plan, the infrastructure and the roles need. */
export interface AgentSpec {
  readonly name: string;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly pickupMs: number;
  readonly settleMs: number;
  readonly maxNoProgressMs?: number;
  /** Absent: the service does all its work during the call. */
  readonly acceptsMs?: number;
  readonly undo: 'required' | 'none';
  /** Absent if undeclared for an 'idempotent' agent; 'required' for a 'probed' one; others have none. */
  readonly probe?: 'required' | 'none';
  /** Absent for an agent in a Lambda function. */
  readonly runsIn?: 'container';
  /** Absent if one process may run several of its attempts. */
  readonly isolate?: true;
}

/**
 * A declared agent: what a workflow names in a step. Its implementation is elsewhere (`.handler`), so that a
 * workflow loads none.
 */
export interface Agent<I = unknown, O = unknown> {
  readonly kind: 'steadfast:agent';
  readonly spec: AgentSpec;
  readonly input: StandardSchemaV1<unknown, I>;
  readonly output: StandardSchemaV1<unknown, O>;
}

/**
 * Writes lines to the log of the agent's function or container, each with the
 * execution, step, attempt and mode.
 */
export interface AttemptLog {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

/**
 * @param fields further keys of the line, or an error. Input and output are in it only
 * if the author puts them there.
 */
type LogLine = (message: string, fields?: Readonly<Record<string, unknown>> | Error) => void;

/** The `ctx` of one attempt: which it is, its key, its time, its signal and its log. */
export interface AttemptContext {
  /** The execution's id; in a child, the child's own. */
  readonly executionId: string;
  /** The step's name, as the workflow declares it. */
  readonly step: string;
  /**
   * 1 for the first. For a probe, the number of the attempt that it asks about; for an undo, the undo's own.
   */
  readonly attempt: number;
  /**
   * The same for every attempt with the same input, and for its probe and its undo: send it to the external
   * service as idempotency key. Another input or agent gets another key, as does an input that a person
   * gave. Lower-case letters, digits, dots and dashes.
   */
  readonly idempotencyKey: string;
  /**
   * The time left for the attempt, in ms: the shorter of the agent's `timeout`, the process's time, and the
   * step's own `within`. At 0 `signal` is aborted, unless the execution was paused meanwhile: `within` does
   * not count pauses, so at 0 they are read, which takes up to a second, and extend the time left.
   */
  readonly timeLeftMs: () => number;
  /**
   * Aborted when the lease is lost or the attempt's time is over. Hand it to every request:
   * `fetch(url, { signal: ctx.signal })`.
   */
  readonly signal: PlatformSignal;
  /**
   * Reports an advance. A number (a share, a count) must be larger than the last one, a text (a cursor) must
   * differ from it; anything else is no progress. Stored with a heartbeat.
   */
  readonly progress: (token: string | number) => void;
  /** Writes a line that carries the execution, step, attempt and mode. */
  readonly log: AttemptLog;
  /**
   * The work that the service has accepted, for a probe and an undo. Absent after a crash that lost the
   * answer: `idempotencyKey` alone must do then.
   */
  readonly accepted?: AcceptedWork;
}

/**
 * How many ms are left until the attempt must be over entirely. For the code that runs the author's code, not
 * for the author's code itself.
 */
export const PROCESS_TIME_LEFT_MS: unique symbol = Symbol('process-time-left');

/** Work that a service has accepted and does by itself: what a probe and an undo find in `ctx.accepted`. */
export interface AcceptedWork {
  /** The token that `execute` returned. */
  readonly token?: string;
  /** When the service accepted it, in epoch ms. */
  readonly at: number;
  /** The latest progress that a probe has reported. */
  readonly progress?: string | number;
}

/**
 * The platform's AbortSignal where its types are known, as in an author's project; these pure files do not
 * know them.
 */
export type PlatformSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal & AbortSignalLike
  : AbortSignalLike;

/** The part of the platform's AbortSignal that matters to the roles. */
export type AbortSignalLike = {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
};

export interface Implementation<I, O> {
  /**
   * Performs the work. Throw `TransientError` or `PermanentError` only when it was certainly NOT done; any
   * other error means that the outcome is unknown.
   */
  readonly execute: (ctx: AttemptContext, input: I) => Promise<O | Accepted>;
  /**
   * Asks the external service whether the work under `ctx.idempotencyKey` was done. Must not change anything.
   */
  readonly probe?: (ctx: AttemptContext, input: I) => Promise<Verdict<O>>;
  /**
   * Compensates. `output` is absent when the outcome was unknown. It may be called again, and must do no harm
   * then.
   */
  readonly undo?: (ctx: AttemptContext, input: I, output: O | undefined) => Promise<unknown>;
}

/**
 * Lambda ends an invocation after 15 minutes; one of them is kept for the abort, the report and the start.
 */
const MAX_TIMEOUT_MS = 14 * 60_000;
/** Split longer work into steps: an attempt that dies begins again from nothing. */
const MAX_CONTAINER_TIMEOUT_MS = 24 * 3_600_000;

/**
 * Declares an agent.
 * @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent`
 */
export function declareAgent<I, O>(name: string, options: AgentOptions<I, O>): Agent<I, O> {
  checkName(name, 'agent');
  const stranger = codeProblem(Object(options) as object) ?? optionProblem(options, OPTIONS);
  if (stranger !== undefined) throw refuse('bad-agent', `agent '${name}': ${stranger}`);
  const ms = (
    key: 'timeout' | 'lease' | 'claimWithin' | 'lateEffectWithin' | 'progressWithin' | 'acceptedWithin',
    fallback: Duration,
  ): number => parseDuration(options[key] ?? fallback, `${key} of agent '${name}'`);
  const spec: AgentSpec = {
    name,
    effect: options.effect,
    timeoutMs: ms('timeout', '1m'),
    leaseMs: ms('lease', '30s'),
    pickupMs: ms('claimWithin', '30s'),
    settleMs: ms('lateEffectWithin', '5s'),
    ...(options.progressWithin === undefined ? {} : { maxNoProgressMs: ms('progressWithin', '1m') }),
    undo: options.undo ?? (options.effect === 'none' ? 'none' : 'required'),
    ...(options.acceptedWithin === undefined ? {} : { acceptsMs: ms('acceptedWithin', '1h') }),
    ...defined({ probe: probeOf(options) }),
    // Leaves out options without an effect, because a plan is addressed by its content.
    ...(options.runsIn === undefined || options.runsIn === 'lambda' ? {} : { runsIn: options.runsIn }),
    ...(options.isolate === undefined || !options.isolate ? {} : { isolate: options.isolate }),
  };
  const problem = agentProblem(spec);
  if (problem !== undefined) throw refuse('bad-agent', `agent '${name}': ${problem}`);
  return { kind: 'steadfast:agent', spec, input: options.input, output: options.output };
}

/** In other engines the declaration takes the code, too. */
function codeProblem(options: object): string | undefined {
  const key = ['execute', 'undo', 'probe'].find((one) => typeof Reflect.get(options, one) === 'function');
  return key === undefined
    ? undefined
    : `'${key}' is a function; code belongs to its handler: export const handler = it.handler({ ${key}: … })`;
}

/** Accepted work is probed, so a recovery may rely on the probe. */
const probeOf = ({ probe, effect, acceptedWithin }: AgentOptions<unknown, unknown>): AgentSpec['probe'] =>
  probe ?? (acceptedWithin !== undefined && effect === 'idempotent' ? 'required' : undefined);

export function agentProblem(spec: AgentSpec): string | undefined {
  if (!EFFECTS.includes(spec.effect)) {
    return `effect is ${JSON.stringify(spec.effect)}; allowed: 'idempotent', 'probed', 'unsafe' and 'none'`;
  }
  if (spec.runsIn !== undefined && spec.runsIn !== 'container')
    return `runsIn is ${JSON.stringify(spec.runsIn)}; allowed: 'lambda' and 'container'`;
  if (spec.isolate !== undefined && (spec.isolate as unknown) !== true)
    return `isolate is ${JSON.stringify(spec.isolate)}; allowed: true and false`;
  if (spec.runsIn === undefined && spec.timeoutMs > MAX_TIMEOUT_MS)
    return "timeout is over 14m, which a Lambda function cannot give; with runsIn: 'container' it may be up to 24h";
  if (spec.timeoutMs > MAX_CONTAINER_TIMEOUT_MS) return 'timeout is over 24h; cut the work into steps';
  if (spec.leaseMs < 3_000)
    return 'lease is under 3s; a heartbeat whose request hangs must have time for another';
  if (spec.pickupMs < 1_000) return 'claimWithin is under 1s; a message needs time to arrive';
  if (spec.maxNoProgressMs !== undefined && spec.maxNoProgressMs < 1_000) {
    return 'progressWithin is under 1s; three heartbeats must fit into it';
  }
  if (spec.acceptsMs !== undefined && spec.acceptsMs < MIN_ASK_AFTER_MS)
    return 'acceptedWithin is under 5s, the shortest time after which accepted work is asked for';
  if (spec.acceptsMs !== undefined && (spec.effect === 'unsafe' || spec.probe === 'none'))
    return "accepted work must be probed: leave acceptedWithin out, or write effect: 'probed', or 'idempotent' with a probe";
  if (!['required', 'none'].includes(spec.undo))
    return `undo is ${JSON.stringify(spec.undo)}; allowed: 'required' and 'none'`;
  if (spec.probe !== undefined && !['required', 'none'].includes(spec.probe))
    return `probe is ${JSON.stringify(spec.probe)}; allowed: 'required' and 'none'`;
  if (spec.effect === 'none' && (spec.undo !== 'none' || spec.probe !== undefined))
    return "effect 'none' leaves nothing to undo or to probe: leave undo and probe out, or write effect: 'idempotent'";
  if (spec.effect === 'unsafe' && spec.probe !== undefined)
    return "an 'unsafe' effect cannot be probed: leave probe out, or write effect: 'probed'";
  if (spec.probe === 'none' && spec.effect === 'probed')
    return `effect '${spec.effect}' needs a probe: leave probe: 'none' out, or say effect: 'idempotent' if the service deduplicates`;
  return undefined;
}
