/**
 * The stages of a recovery: what follows a failure, one after the other.
 *
 * Owns: `retry`, `withInput`, `useAgent`, `askPerson`, their defaults, and the refusal of a recovery that a
 * crash would block for ever. Does not own: the refusals of a plan (`check.ts`), the choice of the next stage
 * (`step/recovery.ts`).
 */

import type { Agent, AgentSpec } from '../../core/plan/agent.ts';
import { type Duration, parseDuration } from '../../core/values/duration.ts';
import {
  type AgentStage,
  type AgentStep,
  type AskPersonStage,
  type WithInputStage,
  limitsOf,
  type RetryStage,
  type Stage,
  type Tries,
} from '../../core/plan/plan.ts';
import { toExpr } from '../references.ts';
import { refuse } from '../../core/values/errors.ts';
import { type Keys, type KeysOf, optionProblem } from '../../core/values/options.ts';

export interface Backoff {
  /**
   * The upper limit of the pause before the first retry. It doubles with each retry.
   * @default '1s'
   */
  readonly delay?: Duration;
  /**
   * The upper limit of the pause before any retry.
   * @default '30s', or `delay` if that is longer
   */
  readonly maxDelay?: Duration;
}

/**
 * Tries `retries` more times. Before each it pauses for a random time between 0 and a limit, which begins at
 * `delay` and doubles up to `maxDelay`.
 * @param retries a whole number, without the attempt that failed
 * @example recovery: [retry(5, { delay: '2s', maxDelay: '1m' }), askPerson({ within: '1d' })]
 * @throws SteadfastError `bad-duration`, `bad-option`
 */
export const retry = (retries: number, backoff: Backoff = {}): RetryStage => {
  checkStage('retry', backoff, BACKOFF);
  return { kind: 'retry', ...tries(retries, backoff, 'retry') };
};

/**
 * Tries with another input from here on, with the agent of the stage before. The new input gets its own
 * idempotency key, because a service that ties a key to its first parameters refuses others under it. The
 * stage is taken only when it is certain that no earlier try took effect.
 * @param options `attempts`: how many tries, 1 by default; `delay` and `maxDelay` as for `retry`
 * @example recovery: [retry(2), withInput({ amount: w.input.amount, currency: 'EUR' })]
 * @throws SteadfastError `bad-duration`, `bad-option`
 */
export const withInput = (
  input: unknown,
  options: Backoff & { readonly attempts?: number } = {},
): WithInputStage => {
  checkStage('withInput', options, ANOTHER_WAY);
  return { kind: 'withInput', input: toExpr(input), ...tries(options.attempts ?? 1, options, 'withInput') };
};

/**
 * Tries with another agent from here on. It gets the input of the stage before, including one that
 * `withInput` changed. The stage is taken only when it is certain that no earlier try took effect.
 * @param options `attempts`: how many tries, 1 by default; `delay` and `maxDelay` as for `retry`
 * @example recovery: [retry(2), useAgent(chargeElsewhere), askPerson()]
 * @throws SteadfastError `bad-duration`, `bad-option`
 */
export const useAgent = (
  agent: Agent,
  options: Backoff & { readonly attempts?: number } = {},
): UseAgentStage => {
  checkStage('useAgent', options, ANOTHER_WAY);
  const stage: AgentStage = {
    kind: 'useAgent',
    agent: agent.spec.name,
    undo: undoOf(agent.spec),
    ...limitsOf(agent.spec),
    ...tries(options.attempts ?? 1, options, 'useAgent'),
  };
  return Object.defineProperty(stage, DECLARED, { value: agent, enumerable: false }) as UseAgentStage;
};

/** The agents that a recovery names. */
export const agentsOn = (recovery: readonly Stage[]): Agent[] =>
  recovery.flatMap((stage) => (stage as UseAgentStage)[DECLARED] ?? []);

/**
 * The key under which a stage keeps its agent for the workflow's list of agents; the plan's JSON omits it.
 */
const DECLARED: unique symbol = Symbol.for('steadfast.agent');
/** The result of `useAgent`. */
export interface UseAgentStage extends AgentStage {
  readonly [DECLARED]?: Agent;
}

export interface AskPersonOptions {
  /**
   * How long to wait for the person; at most the workflow's own `within`.
   * @default '7d', or the workflow's if that is shorter
   */
  readonly within?: Duration;
  /**
   * What happens without an answer in time: 'undo' undoes the steps that acted, 'keep' leaves their effects
   * in place. Either way the execution ends.
   * @default 'undo'
   */
  readonly otherwise?: 'undo' | 'keep';
  /**
   * How often an event reminds people until there is an answer.
   * @default no reminders
   */
  readonly remindEvery?: Duration;
}

/**
 * Asks a person, who decides how to go on (retry, another input, an output by hand, undo). If there is no
 * answer `within` that time, the steps that acted are undone, or left as they are (`otherwise: 'keep'`).
 * @example recovery: [retry(3), askPerson({ within: '1d', otherwise: 'keep' })]
 * @throws SteadfastError `bad-duration`, `bad-option`
 */
export const askPerson = (options: AskPersonOptions = {}): AskPersonStage => {
  checkStage('askPerson', options, HUMAN);
  const stage: AskPersonStage = {
    kind: 'askPerson',
    withinMs: parseDuration(options.within ?? '7d', "askPerson's within"),
    otherwise: options.otherwise ?? 'undo',
    ...(options.remindEvery === undefined
      ? {}
      : { remindMs: parseDuration(options.remindEvery, "askPerson's remindEvery") }),
  };
  return options.within === undefined
    ? Object.defineProperty(stage, UNSAID, { value: true, enumerable: false })
    : stage;
};

/**
 * Marks a `within` that the author did not give: the default, shortened to the workflow's if that is less.
 */
const UNSAID: unique symbol = Symbol.for('steadfast.within');

const BACKOFF = { delay: true, maxDelay: true } as const satisfies KeysOf<Backoff>;
const ANOTHER_WAY = { ...BACKOFF, attempts: true } as const;
const HUMAN = {
  within: true,
  otherwise: true,
  remindEvery: true,
} as const satisfies KeysOf<AskPersonOptions>;

/** @throws SteadfastError `bad-option` */
function checkStage(stage: Stage['kind'], options: unknown, keys: Keys): void {
  const found = optionProblem(options, keys);
  if (found !== undefined) throw refuse('bad-option', `${stage}: ${found}`);
}

function tries(attempts: number, { delay = '1s', maxDelay }: Backoff, what: string): Tries {
  const firstMs = parseDuration(delay, `${what}'s delay`);
  const maxMs =
    maxDelay === undefined
      ? Math.max(firstMs, DEFAULT_MAX_MS)
      : parseDuration(maxDelay, `${what}'s maxDelay`);
  return { attempts, firstMs, maxMs };
}

const DEFAULT_MAX_MS = 30_000;

export const undoOf = (spec: AgentSpec): AgentStep['undo'] =>
  spec.undo === 'none' ? 'none' : retry(10, { delay: '1s', maxDelay: '1m' });

/** The default recovery. A step that can neither be repeated nor probed asks a person at once. */
export const defaultRecovery = (spec: AgentSpec): readonly Stage[] =>
  spec.effect === 'unsafe' ? [askPerson()] : [retry(3)];

/** Converts a stage to plain data. The step's option for undo applies to every agent in its recovery. */
export function planStage(stage: Stage, undo: AgentStep['undo'] | undefined, withinMs: number): Stage {
  if (stage.kind === 'useAgent' && undo !== undefined && stage.effect !== 'none') return { ...stage, undo };
  if (UNSAID in stage && stage.kind === 'askPerson' && withinMs < stage.withinMs)
    return { ...stage, withinMs };
  return { ...stage };
}

/**
 * Finds a recovery that changes the input or the agent although it may stay unknown whether the earlier try
 * acted. An 'idempotent' agent needs no probe; without one an unknown outcome stays unknown, and the step is
 * undone before another input or agent is tried. Without an undo, such a stage could follow only errors that
 * say "not done"; after a crash or a stall a person would be asked.
 * @param undo the step's option
 */
export function recoveryProblem(
  spec: AgentSpec,
  recovery: readonly Stage[],
  undo: AgentStep['undo'] | undefined,
): string | undefined {
  let tried = spec;
  for (const stage of recovery) {
    if (stage.kind === 'askPerson') return undefined;
    // A value that is not a stage is refused with the whole plan.
    if (stage.kind !== 'withInput' && stage.kind !== 'useAgent') continue;
    const isUndone = (undo ?? tried.undo) !== 'none';
    if (tried.effect === 'idempotent' && tried.probe === undefined && !isUndone) {
      const { name } = tried;
      return `after a crash ${stage.kind} is never tried by itself: it needs certainty that nothing of agent '${name}' is left, and that has no undo and may be without a probe; declare it with effect: 'none' if leaving what it did is harmless, with an undo, with probe: 'required', or with probe: 'none' if ${stage.kind} is meant for TransientError and PermanentError alone, and after a crash a person is to be asked`;
    }
    tried = (stage as UseAgentStage)[DECLARED]?.spec ?? tried;
  }
  return undefined;
}
