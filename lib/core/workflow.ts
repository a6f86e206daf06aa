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
import { checkPlan, limitsOf, type Plan, type PlanStep, type RetryRung, type Rung } from './plan.ts';
import { type Condition, type Expr, type Input, type Ref, ref, stepsIn, toExpr } from './refs.ts';

export interface WorkflowOptions<I> {
  /** Any Standard Schema; the scheduler refuses an input that does not fit it. */
  readonly input: StandardSchemaV1<unknown, I>;
  /** An execution that is not over by then is undone. */
  readonly within: Duration;
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

/**
 * `attempts` more tries after the first one, with exponential backoff and full jitter.
 * @throws SteadfastError `bad-duration`
 */
export function retry(attempts: number, backoff: { first?: Duration; max?: Duration } = {}): RetryRung {
  const firstMs = parseDuration(backoff.first ?? '1s', "retry's first");
  const maxMs = parseDuration(backoff.max ?? '30s', "retry's max");
  return { kind: 'retry', attempts, firstMs, maxMs };
}

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
  const steps: PlanStep[] = [];
  const agents = new Map<string, Agent>();
  const output = build({
    input: ref<I>('input'),
    step: (stepName, agent, input, stepOptions = {}) => {
      steps.push(planStep(name, stepName, agent as Agent, input, stepOptions));
      agents.set(agent.spec.name, agent as Agent);
      return { name: stepName, output: ref(`step:${stepName}`) };
    },
  });
  const withinMs =
    options.within === undefined ? Number.NaN : parseDuration(options.within, `within of '${name}'`);
  const plan: Plan = { v: 1, workflow: name, withinMs, steps: inOrder(steps), output: toExpr(output ?? {}) };
  checkPlan(plan);
  return { kind: 'steadfast:workflow', name, input: options.input, plan, agents: [...agents.values()] };
}

function planStep(
  workflowName: string,
  name: string,
  agent: Agent,
  input: unknown,
  options: StepOptions,
): PlanStep {
  if (agent?.kind !== 'steadfast:agent') {
    throw refuse(
      'workflow-refused',
      `workflow '${workflowName}', step '${name}': the second argument is not an agent`,
      { workflow: workflowName, step: name, reason: 'not-an-agent' },
    );
  }
  const { spec } = agent;
  const expr = toExpr(input);
  const when = options.when === undefined ? undefined : toExpr(options.when);
  const declared = (options.after ?? []).map((before) => (typeof before === 'string' ? before : before.name));
  return {
    name,
    kind: 'step',
    agent: spec.name,
    input: expr,
    after: predecessors(declared, when === undefined ? [expr] : [expr, when]),
    ...(when === undefined ? {} : { when }),
    ...limitsOf(spec),
    timeoutMs: stepTimeoutMs(workflowName, name, spec, options.timeout),
    ladder: options.ladder ?? [retry(3)],
    undo: options.undo ?? (spec.undo === 'none' ? 'none' : retry(10, { first: '1s', max: '1m' })),
  };
}

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
function inOrder(steps: readonly PlanStep[]): PlanStep[] {
  const ordered: PlanStep[] = [];
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
