/**
 * The plan: a workflow compiled to JSON, addressed by its content.
 *
 * Owns: the plan's shape and the questions about its graph. Does not own: what is refused (`check-plan.ts`), how authors
 * write it (`workflow.ts`), where it is stored.
 *
 * An execution keeps the plan it started with, whatever is deployed later.
 */

import type { AgentSpec, Effect } from './agent.ts';
import type { Expr } from './refs.ts';

/** The n-th of `attempts` tries starts after a random part of min(max, first · 2^(n-1)) (full jitter). */
export interface Tries {
  readonly attempts: number;
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The same again. */
export interface RetryRung extends Tries {
  readonly kind: 'retry';
}

/** Other parameters, from here on. */
export interface InputRung extends Tries {
  readonly kind: 'withInput';
  readonly input: Expr;
}

/** Another agent, with its own limits, from here on. */
export interface AgentRung extends Tries, StepLimits {
  readonly kind: 'useAgent';
  readonly agent: string;
  readonly undo: 'none' | RetryRung;
}

/** A person decides; without an answer in time, `otherwise`. */
export interface HumanRung {
  readonly kind: 'human';
  readonly withinMs: number;
  readonly otherwise: 'undo' | 'fail';
}

export type Rung = RetryRung | InputRung | AgentRung | HumanRung;

/** What a step takes from the agent that performs it. */
export interface StepLimits {
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly pickupMs: number;
  readonly settleMs: number;
  /** Absent: being alive is enough. */
  readonly maxNoProgressMs?: number;
}

export interface PlanStep extends StepLimits {
  readonly name: string;
  readonly kind: 'step';
  readonly agent: string;
  readonly input: Expr;
  /** All direct predecessors: declared ones and those whose output is read. */
  readonly after: readonly string[];
  readonly when?: Expr;
  readonly ladder: readonly Rung[];
  /** How its undo is retried; 'none' where there is nothing to compensate. */
  readonly undo: 'none' | RetryRung;
}

export interface Plan {
  readonly v: 1;
  readonly workflow: string;
  readonly withinMs: number;
  /** In an order in which predecessors come first. */
  readonly steps: readonly PlanStep[];
  readonly output: Expr;
}

export const PLAN_LIMITS = { bytes: 256 * 1024, steps: 1_000, attempts: 1_000 } as const;

export const limitsOf = (spec: AgentSpec): StepLimits => ({
  effect: spec.effect,
  timeoutMs: spec.timeoutMs,
  leaseMs: spec.leaseMs,
  pickupMs: spec.pickupMs,
  settleMs: spec.settleMs,
  ...(spec.maxNoProgressMs === undefined ? {} : { maxNoProgressMs: spec.maxNoProgressMs }),
});

/** Graph questions about a plan, answered once per plan. */
export interface PlanGraph {
  readonly step: ReadonlyMap<string, PlanStep>;
  readonly dependents: ReadonlyMap<string, readonly PlanStep[]>;
  /** All predecessors of a step, however far; filled as asked. */
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
    dependents,
    ancestors: new Map(),
  };
  graphs.set(plan, graph);
  return graph;
}

export const dependentsOf = (plan: Plan, name: string): readonly PlanStep[] =>
  graphOf(plan).dependents.get(name) ?? [];

/** Whether `name` comes before `other`, directly or through other steps. */
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
