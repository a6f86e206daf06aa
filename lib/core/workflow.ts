/**
 * What an author writes: a workflow as data built by typed code, run once when the module loads, never replayed.
 *
 * Owns: the builder and its defaults. Does not own: the refusals (`plan.ts`) or the meaning of a plan (`decide.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Agent, AgentSpec } from './agent.ts';
import { type Duration, formatDuration, parseDuration } from './duration.ts';
import { refuse } from './errors.ts';
import { checkName } from './names.ts';
import { checkPlan } from './check-plan.ts';
import {
  type AgentRung,
  type HumanRung,
  type InputRung,
  limitsOf,
  type Plan,
  type AgentStep,
  type RetryRung,
  type Rung,
  type Tries,
} from './plan.ts';
import { type Condition, type Expr, type Input, type Ref, ref, stepsIn, toExpr } from './refs.ts';

export interface WorkflowOptions<I> {
  /** Any Standard Schema; the scheduler refuses an input that does not fit it. */
  readonly input: StandardSchemaV1<unknown, I>;
  /** An execution that is not over by then is undone. */
  readonly within: Duration;
  /**
   * How long a pause may last before a person is asked.
   * @default '7d'
   */
  readonly pauseWithin?: Duration;
}

/** A step that was declared: `output` may be used in the input and the condition of later steps. */
export interface StepHandle<O> {
  readonly name: string;
  readonly output: Ref<O>;
}

export interface StepOptions {
  /** Steps that must be done first although nothing of theirs is read. */
  readonly after?: readonly (StepHandle<never> | StepHandle<unknown> | string)[];
  /** Skipped unless it holds. */
  readonly when?: Condition;
  /**
   * What is tried after a failure, rung by rung.
   * @default [retry(3, { first: '1s', max: '30s' })]
   */
  readonly ladder?: readonly Rung[];
  /**
   * 'none', or how its undo is retried.
   * @default the agent's: 'none', or retry(10, { first: '1s', max: '1m' })
   */
  readonly undo?: 'none' | RetryRung;
  /** @default the agent's */
  readonly timeout?: Duration;
  /**
   * Once the step is done there is no way back, only forward: nothing is undone any more, and where a later step fails a
   * person is asked. The step itself is never undone.
   */
  readonly pointOfNoReturn?: boolean;
}

export interface WorkflowBuilder<I> {
  readonly input: Ref<I>;
  readonly step: <SI, SO>(
    name: string,
    agent: Agent<SI, SO>,
    input: Input<SI>,
    options?: StepOptions,
  ) => StepHandle<SO>;
}

export interface Workflow<I = unknown> {
  readonly kind: 'steadfast:workflow';
  readonly name: string;
  readonly input: StandardSchemaV1<unknown, I>;
  readonly plan: Plan;
  readonly agents: readonly Agent[];
}

export interface Backoff {
  /** @default '1s' */
  readonly first?: Duration;
  /** @default '30s' */
  readonly max?: Duration;
}

/**
 * `attempts` more tries after what came before, with exponential backoff and full jitter.
 * @throws SteadfastError `bad-duration`
 */
export const retry = (attempts: number, backoff: Backoff = {}): RetryRung => ({
  kind: 'retry',
  ...tries(attempts, backoff, 'retry'),
});

/**
 * From here on other parameters. Taken only when it is certain that nothing of the earlier tries took effect. The effect
 * key stays the same: a service that ties a key to its first parameters refuses others under it.
 * @throws SteadfastError `bad-duration`
 */
export const withInput = (
  input: unknown,
  options: Backoff & { readonly attempts?: number } = {},
): InputRung => ({
  kind: 'withInput',
  input: toExpr(input),
  ...tries(options.attempts ?? 1, options, 'withInput'),
});

/**
 * From here on another agent. Taken only when it is certain that nothing of the earlier tries took effect.
 * @throws SteadfastError `bad-duration`
 */
export const useAgent = (
  agent: Agent,
  options: Backoff & { readonly attempts?: number } = {},
): AgentRungOf => {
  const rung: AgentRung = {
    kind: 'useAgent',
    agent: agent.spec.name,
    undo: undoOf(agent.spec),
    ...limitsOf(agent.spec),
    ...tries(options.attempts ?? 1, options, 'useAgent'),
  };
  return Object.defineProperty(rung, DECLARED, { value: agent, enumerable: false }) as AgentRungOf;
};

/** The rung remembers its agent, for the workflow's list of agents; the plan's JSON does not. */
const DECLARED: unique symbol = Symbol('agent');
type AgentRungOf = AgentRung & { readonly [DECLARED]?: Agent };

/**
 * A person decides; without an answer `within` that time, what acted is undone, or (`otherwise: 'fail'`) left as it is.
 * @throws SteadfastError `bad-duration`
 */
export const human = (
  options: { readonly within?: Duration; readonly otherwise?: 'undo' | 'fail' } = {},
): HumanRung => ({
  kind: 'human',
  withinMs: parseDuration(options.within ?? '7d', "human's within"),
  otherwise: options.otherwise ?? 'undo',
});

const tries = (attempts: number, backoff: Backoff, what: string): Tries => ({
  attempts,
  firstMs: parseDuration(backoff.first ?? '1s', `${what}'s first`),
  maxMs: parseDuration(backoff.max ?? '30s', `${what}'s max`),
});

/**
 * Declares a workflow. `build` is called once, here; what it returns is the execution's output.
 * @throws SteadfastError `workflow-refused` with the step's name and the reason, `bad-name`, `bad-duration`
 */
export function workflow<I>(
  name: string,
  options: WorkflowOptions<I>,
  build: (w: WorkflowBuilder<I>) => Readonly<Record<string, unknown>> | undefined | void,
): Workflow<I> {
  checkName(name, 'workflow');
  const steps: AgentStep[] = [];
  const agents = new Map<string, Agent>();
  const output = build({
    input: ref<I>('input'),
    step: (stepName, agent, input, stepOptions = {}) => {
      steps.push(planStep(name, stepName, agent as Agent, input, stepOptions));
      const others = (stepOptions.ladder ?? []).flatMap((rung) => (rung as AgentRungOf)[DECLARED] ?? []);
      for (const used of [agent as Agent, ...others]) agents.set(used.spec.name, used);
      return { name: stepName, output: ref(`step:${stepName}`) };
    },
  });
  const withinMs =
    options.within === undefined ? Number.NaN : parseDuration(options.within, `within of '${name}'`);
  const { pauseWithin } = options;
  const plan: Plan = {
    v: 1,
    workflow: name,
    withinMs,
    ...(pauseWithin === undefined
      ? {}
      : { pauseWithinMs: parseDuration(pauseWithin, `pauseWithin of '${name}'`) }),
    steps: inOrder(steps),
    output: toExpr(output ?? {}),
  };
  checkPlan(plan);
  return { kind: 'steadfast:workflow', name, input: options.input, plan, agents: [...agents.values()] };
}

function planStep(
  workflowName: string,
  name: string,
  agent: Agent,
  input: unknown,
  options: StepOptions,
): AgentStep {
  if (agent?.kind !== 'steadfast:agent') {
    throw refuse(
      'workflow-refused',
      `workflow '${workflowName}', step '${name}': the second argument is not an agent`,
      { workflow: workflowName, step: name, reason: 'not-an-agent' },
    );
  }
  const { spec } = agent;
  const ladderInputs = (options.ladder ?? []).flatMap((rung) =>
    rung.kind === 'withInput' ? [rung.input] : [],
  );
  const expr = toExpr(input);
  const when = options.when === undefined ? undefined : toExpr(options.when);
  const undo = options.undo ?? (options.pointOfNoReturn === true ? 'none' : undefined);
  const declared = (options.after ?? []).map((before) => (typeof before === 'string' ? before : before.name));
  return {
    name,
    kind: 'step',
    agent: spec.name,
    input: expr,
    after: predecessors(declared, [expr, ...(when === undefined ? [] : [when]), ...ladderInputs]),
    ...(when === undefined ? {} : { when }),
    ...limitsOf(spec),
    timeoutMs: stepTimeoutMs(workflowName, name, spec, options.timeout),
    ladder: (options.ladder ?? defaultLadder(spec)).map((rung) => planRung(rung, undo)),
    undo: undo ?? undoOf(spec),
    ...(options.pointOfNoReturn === true ? { pointOfNoReturn: true as const } : {}),
  };
}

const undoOf = (spec: AgentSpec): AgentStep['undo'] =>
  spec.undo === 'none' ? 'none' : retry(10, { first: '1s', max: '1m' });

/** What can neither be repeated nor asked for goes to a person at once. */
const defaultLadder = (spec: AgentSpec): readonly Rung[] =>
  spec.effect === 'unsafe' ? [human()] : [retry(3)];

/** Plain data, and what the step says of its undo holds for every agent on its ladder. */
const planRung = (rung: Rung, undo: StepOptions['undo']): Rung =>
  rung.kind === 'useAgent' && undo !== undefined ? { ...rung, undo } : { ...rung };

/** The agent's function is built for the agent's timeout; a step can only ask for less. */
function stepTimeoutMs(
  workflowName: string,
  name: string,
  spec: AgentSpec,
  timeout: Duration | undefined,
): number {
  const timeoutMs =
    timeout === undefined ? spec.timeoutMs : parseDuration(timeout, `timeout of step '${name}'`);
  if (timeoutMs <= spec.timeoutMs) return timeoutMs;
  throw refuse(
    'workflow-refused',
    `workflow '${workflowName}', step '${name}': its timeout ${timeout} is longer than that of agent '${spec.name}' (${formatDuration(spec.timeoutMs)})`,
    { workflow: workflowName, step: name, reason: 'bad-timeout' },
  );
}

const predecessors = (declared: readonly string[], expressions: readonly Expr[]): string[] => [
  ...new Set([...declared, ...expressions.flatMap(stepsIn)]),
];

/** Predecessors first; steps of a cycle stay at the end, for `checkPlan` to name. */
function inOrder(steps: readonly AgentStep[]): AgentStep[] {
  const ordered: AgentStep[] = [];
  let rest = [...steps];
  while (rest.length > 0) {
    const waiting = new Set(rest.map((step) => step.name));
    const free = rest.filter((step) => !step.after.some((name) => waiting.has(name)));
    if (free.length === 0) return [...ordered, ...rest];
    ordered.push(...free);
    rest = rest.filter((step) => !free.includes(step));
  }
  return ordered;
}
