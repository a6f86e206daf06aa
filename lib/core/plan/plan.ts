/**
 * The plan: a workflow compiled to JSON, addressed by its content.
 *
 * Owns: the plan's shape and the questions about its graph. Does not own: its refusals (`check.ts`), how
 * authors write it (`workflow.ts`), where it is stored.
 *
 * An execution keeps the plan it started with, after later deployments too.
 */

import type { AgentSpec, Effect } from './agent.ts';
import type { Expr } from './refs.ts';

/** The n-th of `attempts` tries starts after a random part of min(max, first · 2^(n-1)) (full jitter). */
export interface Tries {
  readonly attempts: number;
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The same request again. */
export interface RetryStage extends Tries {
  readonly kind: 'retry';
}

/** Tries with other parameters from here on. */
export interface WithInputStage extends Tries {
  readonly kind: 'withInput';
  readonly input: Expr;
}

/** Another agent, with its own limits, from here on. */
export interface AgentStage extends Tries, StepLimits {
  readonly kind: 'useAgent';
  readonly agent: string;
  readonly undo: 'none' | RetryStage;
}

/** A person decides; without an answer in time, `otherwise`. */
export interface AskPersonStage {
  readonly kind: 'askPerson';
  readonly withinMs: number;
  readonly otherwise: 'undo' | 'keep';
  /** How often listeners of the event bus are reminded while there is no answer. */
  readonly remindMs?: number;
}

export type Stage = RetryStage | WithInputStage | AgentStage | AskPersonStage;
/** The stages of a child step: each try is an execution of its own, of the same workflow. */
export type ChildStage = RetryStage | WithInputStage | AskPersonStage;

/** The settings that a step takes from the agent that performs it. */
export interface StepLimits {
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly pickupMs: number;
  readonly settleMs: number;
  /** How long an attempt may go without progress; absent if heartbeats alone are enough. */
  readonly maxNoProgressMs?: number;
  /** How long work that the service has accepted may go on; absent if it accepts none. */
  readonly acceptsMs?: number;
}

interface StepBase {
  readonly name: string;
  /** All direct predecessors: declared ones and those whose output is read. */
  readonly after: readonly string[];
  readonly when?: Expr;
  /** The longest time from its turn on, all attempts, waits and retries included. */
  readonly withinMs?: number;
  /** Set for a point of no return: once it is done, nothing is undone, only retried or left to a person. */
  readonly pointOfNoReturn?: true;
}

/** A step whose failure may be tolerated. */
interface MayFail {
  readonly tolerate?: true;
}

/** An agent performs it. */
export interface AgentStep extends StepBase, MayFail, StepLimits {
  readonly kind: 'agent';
  readonly agent: string;
  readonly input: Expr;
  readonly recovery: readonly Stage[];
  /** How its undo is retried; 'none' if there is nothing to compensate. */
  readonly undo: 'none' | RetryStage;
}

/** Done when its time has come: this long after its predecessors, or at a time that is read from the data. */
export interface WaitStep extends StepBase, MayFail {
  readonly kind: 'wait';
  readonly forMs?: number;
  /** Seconds, or a duration, read from the data. */
  readonly for?: Expr;
  /** Epoch ms, or a date in ISO form. */
  readonly until?: Expr;
}

/** Done when the external party (a system, or for an approval a person) answers through the API. */
export interface CallbackStep extends StepBase, MayFail {
  readonly kind: 'callback' | 'approval';
  readonly withinMs: number;
  /** How often the external party must report that it is still working. */
  readonly heartbeatMs?: number;
  /**
   * Only for an approval that another person must give: not one who started the root execution, gave input to
   * the tree or approved in it.
   */
  readonly by?: 'another';
  /** An approval without an answer in time counts as this. Absent: the step fails. */
  readonly otherwise?: 'approve' | 'reject';
  /** The interval of reminders to listeners of the event bus while there is no answer. */
  readonly remindMs?: number;
  /** The values that an approval shows to the person, by name. */
  readonly show?: Expr;
}

/** Done when a message of its name, sent to the execution, is taken: its output is the body. */
export interface ReceiveStep extends StepBase, MayFail {
  readonly kind: 'receive';
  /** The name of the messages; it takes one of them. */
  readonly message: string;
  readonly withinMs: number;
  /** 'continue': without a message in time the step is done, with the output null. Absent: the step fails. */
  readonly otherwise?: 'continue';
}

/** Done when its lane has a place for the execution: the first step, and all others wait for it. */
export interface LaneStep extends StepBase, MayFail {
  readonly kind: 'lane';
  /** The lane's name. Workflows may share a lane. */
  readonly lane: string;
  /** The key of the lane, read from the input. */
  readonly by: Expr;
  /** How many executions of one key may have a place at the same time. */
  readonly atMost: number;
  /** How long an execution may wait for a place. */
  readonly withinMs: number;
}

/** How a step is repeated: another round after each that succeeded. */
export interface Rounds {
  /** True for the last round; reads the round's answer (`last`) and its input (`given`). */
  readonly until: Expr;
  /** The input of the next round, which reads the same values; absent: the same input again. */
  readonly next?: Expr;
  readonly atMost: number;
  /** Set if an agent performs each round: the child's plan is that one step. */
  readonly byAgent?: true;
  /** The message that each later round begins with; the round's input has it as `message`. */
  readonly message?: RoundMessage;
  /** The message that the first round begins with. */
  readonly first?: RoundMessage;
}

/** The message that a round begins with. */
export interface RoundMessage {
  readonly name: string;
  /**
   * How long to wait for the message, counted from the end of the previous round; absent if `within` gives
   * it.
   */
  readonly withinMs?: number;
  /** Seconds, or a duration, read from the data. `message` may also read the round before. */
  readonly within?: Expr;
  /** 'continue': without a message in time the round begins with null. Absent: the step fails. */
  readonly otherwise?: 'continue';
}

/** Another workflow, run as a child execution; or several, one after the other, if it has rounds. */
export interface ChildStep extends StepBase, MayFail {
  readonly kind: 'child';
  readonly plan: Plan;
  /** The input of the first round, if there are several. */
  readonly input: Expr;
  readonly rounds?: Rounds;
  /** Absent for a single try, whose failure is the step's. */
  readonly recovery?: readonly ChildStage[];
  readonly undo: 'none' | 'required';
}

/** One agent, or one workflow, over a list, in executions of up to 25 items each. */
export interface MapStep extends StepBase {
  readonly kind: 'map';
  readonly over: Expr;
  /** How one item is performed; its input, and that of its stages, reads the item and its index. */
  readonly each: AgentStep | ChildStep;
  /** How many items may be under way at the same time. */
  readonly concurrency?: number;
  /** How many items may fail. */
  readonly tolerate: { readonly items: number } | { readonly percent: number };
}

export type PlanStep = AgentStep | WaitStep | CallbackStep | ReceiveStep | LaneStep | ChildStep | MapStep;

export interface Plan {
  readonly v: 1;
  readonly workflow: string;
  readonly withinMs: number;
  /** How long a pause may last before a person is asked, if the command does not say. */
  readonly pauseWithinMs?: number;
  /** In an order in which predecessors come first. */
  readonly steps: readonly PlanStep[];
  readonly output: Expr;
  /**
   * False if the ends of its executions are not announced. This saves the write that records the
   * announcement, unless a parent, a lane or a question waits for that write.
   */
  readonly announceEnds?: false;
  /** Only for a part of a list: how many of its items may fail. */
  readonly tolerated?: number;
  /** Tags by which its executions are found; given with the start, or else fields of the input. */
  readonly search?: readonly string[];
  /** The tenant of an execution, read from its input: messages of different tenants take turns. */
  readonly fairBy?: Expr;
  /** The steps after an end without success, predecessors first; absent if there are none. */
  readonly onFailure?: readonly AgentStep[];
  /** Only while an execution follows up: the stored plan that these on-failure steps belong to. */
  readonly onFailureOf?: Plan;
}

export const PLAN_LIMITS = { bytes: 256 * 1024, steps: 1_000, attempts: 1_000 } as const;

/** A plan with more steps is read in part if that is enough. */
const LONG = 36;
export const hasManySteps = (plan: Plan): boolean => plan.steps.length > LONG;

export const limitsOf = (spec: AgentSpec): StepLimits => ({
  effect: spec.effect,
  timeoutMs: spec.timeoutMs,
  leaseMs: spec.leaseMs,
  pickupMs: spec.pickupMs,
  settleMs: spec.settleMs,
  ...(spec.maxNoProgressMs === undefined ? {} : { maxNoProgressMs: spec.maxNoProgressMs }),
  ...(spec.acceptsMs === undefined ? {} : { acceptsMs: spec.acceptsMs }),
});

/** Graph questions about a plan, answered once for each plan. */
export interface PlanGraph {
  readonly step: ReadonlyMap<string, PlanStep>;
  /** The steps that agents perform, in plan order. */
  readonly performed: readonly AgentStep[];
  /** The steps that take messages, in plan order. */
  readonly receives: readonly (ReceiveStep | RepeatedStep)[];
  readonly dependents: ReadonlyMap<string, readonly PlanStep[]>;
  /** All predecessors of a step, direct or not; filled on demand. */
  readonly ancestors: Map<string, ReadonlySet<string>>;
}

const graphs = new WeakMap<Plan, PlanGraph>();

export function graphOf(plan: Plan): PlanGraph {
  const known = graphs.get(plan);
  if (known !== undefined) return known;
  const dependents = new Map<string, PlanStep[]>(plan.steps.map((step) => [step.name, []]));
  for (const step of plan.steps) {
    for (const name of step.after) dependents.get(name)?.push(step);
  }
  const graph: PlanGraph = {
    step: new Map(plan.steps.map((step) => [step.name, step])),
    performed: plan.steps.filter(isAgentStep),
    receives: plan.steps.filter(takesMessages),
    dependents,
    ancestors: new Map(),
  };
  graphs.set(plan, graph);
  return graph;
}

const isAgentStep = (step: PlanStep | undefined): step is AgentStep => step?.kind === 'agent';

/** The step of that name, if an agent performs it. */
export function agentStep(plan: Plan, name: string): AgentStep | undefined {
  const step = graphOf(plan).step.get(name);
  return isAgentStep(step) ? step : undefined;
}

/** The steps that agents perform, in plan order. */
export const agentSteps = (plan: Plan): readonly AgentStep[] => graphOf(plan).performed;

export const dependentsOf = (plan: Plan, name: string): readonly PlanStep[] =>
  graphOf(plan).dependents.get(name) ?? [];

/** True if `name` comes before `other`, directly or through other steps. */
export function isBefore(plan: Plan, name: string, other: string): boolean {
  const graph = graphOf(plan);
  const known = graph.ancestors.get(other);
  if (known !== undefined) return known.has(name);
  const found = new Set<string>();
  const queue = [...(graph.step.get(other)?.after ?? [])];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(...(graph.step.get(next)?.after ?? []));
  }
  graph.ancestors.set(other, found);
  return found.has(name);
}

export const MAX_ITEMS = 10_000;

export const hasChildren = (step: PlanStep | undefined): step is ChildStep | MapStep =>
  step?.kind === 'child' || step?.kind === 'map';

/** The plan of the workflow that the step runs, or runs for each of its items. */
export function workflowIn(step: PlanStep): Plan | undefined {
  const performed = step.kind === 'map' ? step.each : step;
  return performed.kind === 'child' ? performed.plan : undefined;
}

/** True if an approval in it, or in a workflow below it, must come from another person. */
export const asksAnother = (plan: Plan): boolean =>
  plan.steps.some((step) => {
    const inner = workflowIn(step);
    return inner === undefined ? isForAnother(step) : asksAnother(inner);
  });

/** A child step with rounds: another execution after each that succeeded. */
export type RepeatedStep = ChildStep & { readonly rounds: Rounds };
export const isRepeated = (step: PlanStep | undefined): step is RepeatedStep =>
  step?.kind === 'child' && step.rounds !== undefined;

export const isForAnother = (step: PlanStep | undefined): boolean =>
  step?.kind === 'approval' && step.by !== undefined;

export const isCallback = (step: PlanStep | undefined): step is CallbackStep =>
  step?.kind === 'callback' || step?.kind === 'approval';

export const isReceive = (step: PlanStep | undefined): step is ReceiveStep => step?.kind === 'receive';

/** True if it takes one message, or its rounds take several. */
const takesMessages = (step: PlanStep | undefined): step is ReceiveStep | RepeatedStep =>
  messagesIn(step).length > 0;

/** True if an answer or a message from outside ends it, which may come at any time. */
export const endsByParty = (step: PlanStep | undefined): boolean => isCallback(step) || isReceive(step);

/** The names of the messages that the step takes. */
export function messagesIn(step: PlanStep | undefined): readonly string[] {
  if (isReceive(step)) return [step.message];
  if (!isRepeated(step)) return [];
  const { first, message } = step.rounds;
  return [first, message].flatMap((one) => one?.name ?? []);
}

/** The names of the messages that an execution of the plan takes. */
export const messagesOf = (plan: Plan): readonly string[] => [
  ...new Set(graphOf(plan).receives.flatMap(messagesIn)),
];

/** All expressions of a step that may read outputs of others. */
export const expressionsOf = (step: PlanStep): Expr[] => [
  ...(step.when === undefined ? [] : [step.when]),
  ...ownExpressions(step),
];

export function ownExpressions(step: PlanStep): Expr[] {
  switch (step.kind) {
    case 'agent':
      return [step.input, ...inputsOf(recoveryOf(step))];
    case 'child':
      return [
        step.input,
        ...inputsOf(recoveryOf(step)),
        ...ofRounds(step),
        ...given(step.rounds?.first?.within),
      ];
    case 'wait':
      return [step.for ?? [], step.until ?? []].flat();
    case 'map':
      return [step.over, ...ownExpressions(step.each)];
    case 'callback':
    case 'approval':
      return step.show === undefined ? [] : [step.show];
    case 'lane':
      return [step.by];
    case 'receive':
      return [];
  }
}

/** The expressions that are evaluated after each round. */
export const ofRounds = ({ rounds }: ChildStep): Expr[] =>
  rounds === undefined ? [] : [rounds.until, ...given(rounds.next), ...given(rounds.message?.within)];

const given = (expr: Expr | undefined): Expr[] => (expr === undefined ? [] : [expr]);

/** The stages after the first attempt; none for a step without a recovery. */
export const recoveryOf = (step: PlanStep): readonly Stage[] =>
  'recovery' in step ? (step.recovery ?? []) : [];

const inputsOf = (recovery: readonly Stage[]): Expr[] =>
  recovery.flatMap((stage) => (stage.kind === 'withInput' ? [stage.input] : []));
