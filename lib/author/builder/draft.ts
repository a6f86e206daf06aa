/**
 * The declarations of a workflow while its function runs: those so far, and the steps that an agent or
 * another workflow performs.
 *
 * Owns: these steps and their defaults, the options of a workflow. Does not own: the methods that authors
 * call (`workflow.ts`), options that all steps have (`waiting-steps.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Agent } from '../../core/plan/agent.ts';
import type { Workflow } from '../../core/plan/workflow.ts';
import { type Duration, formatDuration, parseDuration } from '../../core/values/duration.ts';
import {
  type AgentStep,
  type CallbackStep,
  type ChildStep,
  limitsOf,
  ownExpressions,
  type Plan,
  type PlanStep,
  type RetryStage,
  type Stage,
} from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { type Ref, toExpr } from '../references.ts';
import { pauseProblem, withoutMessages } from '../checks/check-rounds.ts';
import { longerThanWithin } from '../checks/check-waiting.ts';
import { problem, refusal } from '../checks/refusal.ts';
import {
  type AnyStepOptions,
  baseOf,
  type CallbackOptions,
  callbackStep,
  checkConstantInput,
  type ChildOptions,
  childStep,
  type MayFailOptions,
} from './waiting-steps.ts';
import { defaultRecovery, planStage, recoveryProblem, undoOf } from './recovery-options.ts';
import { declareMessage } from './receive.ts';
import { isReceived } from './received.ts';
import { planOfRound, type RepeatOptions, repeatStep } from './rounds.ts';

/** The options of a workflow: its input, its time limit, and how its executions are found and limited. */
export interface WorkflowOptions<I> {
  /** Any Standard Schema; the scheduler refuses an input that does not fit it. */
  readonly input: StandardSchemaV1<unknown, I>;
  /**
   * The time limit of an execution, required so that none can wait for ever: '1h', '3d'. One that has not
   * ended by then is undone.
   */
  readonly within: Duration;
  /**
   * How long a pause may last before a person is asked.
   * @default '7d'
   */
  readonly pauseWithin?: Duration;
  /**
   * Names of tags by which executions are found, three at most. A tag's value is the one given at the start,
   * else the input's field of that name, if it is a text, a number or a boolean of up to 200 characters. Each
   * tag costs one write unit per start.
   * @default none
   */
  readonly tags?: readonly string[];
  /**
   * The tenant of an execution: `(input) => input.tenant`. Messages of different tenants take turns, so that
   * a backlog of one does not delay another; child executions count with their parent.
   * @default none: messages are taken in their order
   */
  readonly fairBy?: (input: Ref<I>) => Ref<string> | Ref<number>;
  /**
   * Whether each end is announced on the event bus. `false` also saves a write for each execution that has
   * neither a parent nor a lane.
   * @default true
   */
  readonly announceEnds?: boolean;
  /**
   * How many executions of one key run at a time: one for an order, five for a customer. An execution waits
   * for its place before its first step, and keeps the place until it can no longer act. An execution that is
   * retried waits again.
   * @default no limit: each begins at once
   */
  readonly concurrency?: ConcurrencyOptions<I>;
}

/** Limits the executions of one key that run at a time. */
export interface ConcurrencyOptions<I> {
  /** The key: a text of 1 to 1,000 characters, or a whole number, of the input. */
  readonly key: (input: Ref<I>) => Ref<string> | Ref<number>;
  /** The number of executions of one key that run at a time: 1 to 100. */
  readonly limit: number;
  /**
   * How long an execution may wait for its place, before its `within` begins. After that it fails with
   * `concurrency-timeout`.
   */
  readonly waitWithin: Duration;
  /**
   * The name of the lane. Workflows whose lanes have the same name share their places.
   * @default the workflow's name
   */
  readonly group?: string;
}

/** The options of a step that an agent performs. */
export interface StepOptions extends AnyStepOptions, MayFailOptions {
  /**
   * The stages that follow a failure, one after the other.
   * @default [retry(3, { delay: '1s', maxDelay: '30s' })]
   */
  readonly recovery?: readonly Stage[];
  /**
   * 'none': the step's effect stays when the execution is undone.
   * @default the step is undone, unless its agent has no undo
   */
  readonly undo?: 'none';
  /**
   * How often its undo is retried before a person is asked.
   * @default retry(10, { delay: '1s', maxDelay: '1m' })
   */
  readonly retryUndo?: RetryStage;
  /**
   * The longest time of one attempt.
   * @default the agent's
   */
  readonly timeout?: Duration;
  /**
   * Makes the step a point of no return: once it is done, no step is undone, not even this one. If a later
   * step fails for good, a person is asked.
   * @default false
   */
  readonly pointOfNoReturn?: boolean;
}

/** The options of an on-failure step: it is never undone, and its failure changes no end. */
export type OnFailureOptions = Omit<
  StepOptions,
  'undo' | 'retryUndo' | 'pointOfNoReturn' | 'mayFail' | 'within'
>;

/** The declarations that the workflow's function has made so far. */
export interface Draft {
  readonly workflow: string;
  readonly withinMs: number;
  readonly steps: PlanStep[];
  readonly onFailure: AgentStep[];
  readonly agents: Map<string, Agent>;
  readonly children: Workflow[];
  readonly callbacks: Record<string, StandardSchemaV1>;
  readonly messages: Record<string, StandardSchemaV1>;
}

export const emptyDraft = (name: string, withinMs: number): Draft => ({
  workflow: name,
  withinMs,
  steps: [],
  onFailure: [],
  agents: new Map(),
  children: [],
  callbacks: {},
  messages: {},
});

export function callbackOf(draft: Draft, stepName: string, options: CallbackOptions<unknown>): CallbackStep {
  draft.callbacks[stepName] = options.output;
  return callbackStep(stepName, 'callback', options);
}

/** Declares a step that runs another workflow, or does so for each item of a list. */
export function childOf(
  draft: Draft,
  name: string,
  other: Workflow,
  input: Expr,
  options: ChildOptions,
  uses: (step: string, agents: readonly Agent[]) => void,
): ChildStep {
  const { workflow: workflowName, withinMs } = draft;
  const step = childStep(name, planOfChild(workflowName, name, other), input, options, withinMs);
  for (const one of ownExpressions(step)) checkConstantInput(workflowName, name, other, one);
  uses(name, other.agents);
  draft.children.push(other);
  return step;
}

/** Declares a step with rounds, each performed by an agent or a workflow. */
export function repeatOf(
  draft: Draft,
  name: string,
  performer: { readonly kind: string },
  first: unknown,
  options: RepeatOptions<never, never>,
  uses: (step: string, agents: readonly Agent[]) => void,
): ChildStep {
  const { workflow: workflowName, withinMs } = draft;
  const received = [first, options.next].filter(isReceived);
  const unfit = received.length === 0 ? withoutMessages(options) : undefined;
  if (unfit !== undefined) throw refusal(workflowName, name, unfit);
  for (const one of received) declareMessage(draft, name, one.name, one.message);
  const build = (round: { plan: Plan; undo: 'none' | 'required'; byAgent?: true }): ChildStep => {
    const refuses = (until: Expr, pauseMs: number): void => {
      const refused =
        pauseProblem(round.plan, until) ?? longerThanWithin(pauseMs, { withinMs }, 'it pauses for');
      if (refused !== undefined) throw refusal(workflowName, name, refused);
    };
    return repeatStep(name, { ...round, refuses }, first, options, withinMs);
  };
  if (performer?.kind !== 'steadfast:workflow') {
    const agent = performer as Agent;
    const own = agentStepOf(draft, name, agent, null, {});
    uses(name, [agent]);
    const undo = own.undo === 'none' ? 'none' : 'required';
    return build({ plan: planOfRound(workflowName, withinMs, own), undo, byAgent: true });
  }
  const other = performer as Workflow;
  const step = build({ plan: other.plan, undo: 'required' });
  const { first: awaited, message, next = null } = step.rounds ?? {};
  if (awaited === undefined) checkConstantInput(workflowName, name, other, step.input);
  if (message === undefined && next !== null) checkConstantInput(workflowName, name, other, next);
  uses(name, other.agents);
  draft.children.push(other);
  return step;
}

/**
 * Adds an agent, and refuses a second agent of the same name: both would have the same queue, function and
 * schemas, so each would do the other's work.
 */
export function addAgent({ workflow: name, agents }: Draft, step: string, used: Agent): void {
  const known = agents.get(used.spec.name);
  if (known !== undefined && known !== used) {
    const message = `two agents are named '${used.spec.name}'; give one of them another name, or declare it once and use it in both places`;
    throw refusal(name, step, problem('duplicate-agent', message));
  }
  agents.set(used.spec.name, used);
}

export function agentStepOf(
  { workflow: workflowName, withinMs }: Draft,
  name: string,
  agent: Agent,
  input: unknown,
  options: StepOptions,
): AgentStep {
  const refused = (reason: string, message: string): Error =>
    refusal(workflowName, name, problem(reason, message));
  if (agent?.kind !== 'steadfast:agent')
    throw refused('not-an-agent', 'the second argument is not an agent (of a list: an agent or a workflow)');
  const { spec } = agent;
  const recovery = options.recovery ?? defaultRecovery(spec);
  const undo = options.undo ?? options.retryUndo ?? (options.pointOfNoReturn === true ? 'none' : undefined);
  const unreachable = recoveryProblem(spec, recovery, undo);
  if (unreachable !== undefined) throw refused('unreachable-stage', unreachable);
  const { timeout } = options;
  const timeoutMs =
    timeout === undefined ? spec.timeoutMs : parseDuration(timeout, `timeout of step '${name}'`);
  // The agent's function is built for the agent's timeout; a step can only shorten it.
  if (timeoutMs > spec.timeoutMs) {
    const message = `its timeout ${timeout} is longer than that of agent '${spec.name}' (${formatDuration(spec.timeoutMs)})`;
    throw refused('bad-timeout', message);
  }
  return {
    kind: 'agent',
    ...baseOf(name, options),
    agent: spec.name,
    input: toExpr(input),
    ...limitsOf(spec),
    timeoutMs,
    recovery: recovery.map((stage) => planStage(stage, undo, withinMs)),
    undo: undo ?? undoOf(spec),
    ...(options.pointOfNoReturn === true ? { pointOfNoReturn: true as const } : {}),
  };
}

/** A workflow's plan, for a step that runs it. @throws SteadfastError `workflow-refused` */
export function planOfChild(
  workflowName: string,
  name: string,
  other: Pick<Workflow, 'kind' | 'plan'>,
): Plan {
  if (other?.kind === 'steadfast:workflow') return other.plan;
  throw refusal(workflowName, name, problem('not-a-workflow', 'the second argument is not a workflow'));
}
