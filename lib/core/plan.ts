/**
 * The plan: a workflow compiled to JSON, addressed by its content, and the check that refuses a bad one.
 *
 * Owns: the plan's shape, its graph questions, and every build-time refusal (`checkPlan`). Does not own: how authors
 * write it (`workflow.ts`), where it is stored.
 *
 * An execution keeps the plan it started with, whatever is deployed later.
 */

import type { AgentSpec, Effect } from './agent.ts';
import { MAX_DURATION_MS } from './duration.ts';
import { refuse } from './errors.ts';
import { canonicalJson, isJsonObject, type Json, jsonProblem, utf8Bytes } from './json.ts';
import { isName } from './names.ts';
import { type Expr, OPERATORS, stepsIn } from './refs.ts';

/** `attempts` more tries, the n-th after a random part of min(max, first · 2^(n-1)) (full jitter). */
export interface RetryRung {
  readonly kind: 'retry';
  readonly attempts: number;
  readonly firstMs: number;
  readonly maxMs: number;
}

export type Rung = RetryRung;

export interface PlanStep {
  readonly name: string;
  readonly kind: 'step';
  readonly agent: string;
  readonly input: Expr;
  /** All direct predecessors: declared ones and those whose output is read. */
  readonly after: readonly string[];
  readonly when?: Expr;
  readonly effect: Effect;
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly pickupMs: number;
  readonly settleMs: number;
  /** Absent: being alive is enough. */
  readonly maxNoProgressMs?: number;
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

/** The time limits a step takes from its agent. */
export const limitsOf = (
  spec: AgentSpec,
): Pick<PlanStep, 'effect' | 'timeoutMs' | 'leaseMs' | 'pickupMs' | 'settleMs' | 'maxNoProgressMs'> => ({
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

/**
 * Refuses a plan that could hang, lie or grow without bound.
 * @throws SteadfastError `workflow-refused` whose message names the workflow, the step and the reason, and whose
 * details are `{ workflow, step?, reason }`
 */
export function checkPlan(plan: Plan): void {
  const refused = (reason: string, message: string, step?: string): Error =>
    refuse(
      'workflow-refused',
      `workflow '${plan.workflow}'${step === undefined ? '' : `, step '${step}'`}: ${message}`,
      { workflow: plan.workflow, ...(step === undefined ? {} : { step }), reason },
    );
  if (!isName(plan.workflow)) throw refused('bad-name', 'the name is not a legal one ([a-z][a-z0-9-]{0,47})');
  if (!isDuration(plan.withinMs)) {
    throw refused(
      'unbounded',
      "it has no 'within': say how long an execution may take at most, for example '1h'",
    );
  }
  if (plan.steps.length === 0) throw refused('no-end', 'it has no steps, so it would never reach an end');
  if (plan.steps.length > PLAN_LIMITS.steps) {
    throw refused('too-many-steps', `it has ${plan.steps.length} steps; allowed are ${PLAN_LIMITS.steps}`);
  }
  const seen = new Set<string>();
  for (const step of plan.steps) {
    const problem = stepProblem(step, seen, plan);
    if (problem !== undefined) throw refused(problem.reason, problem.message, step.name);
    seen.add(step.name);
  }
  const cycle = cycleIn(plan);
  if (cycle !== undefined) throw refused('cycle', `it waits for itself: ${cycle.join(' → ')}`, cycle[0]);
  const output = exprProblem(plan.output) ?? strangersIn(plan.output, plan);
  if (output !== undefined) throw refused('bad-output', `the output ${output}`);
  const bytes = utf8Bytes(canonicalJson(plan as unknown as Json));
  if (bytes > PLAN_LIMITS.bytes) {
    throw refused('too-large', `its plan has ${bytes} bytes; allowed are ${PLAN_LIMITS.bytes}`);
  }
}

interface Problem {
  readonly reason: string;
  readonly message: string;
}

function stepProblem(step: PlanStep, seen: ReadonlySet<string>, plan: Plan): Problem | undefined {
  if (!isName(step.name))
    return { reason: 'bad-name', message: 'the name is not legal ([a-z][a-z0-9-]{0,47})' };
  if (seen.has(step.name)) return { reason: 'duplicate-name', message: 'two steps have this name' };
  if (!isName(step.agent))
    return { reason: 'bad-name', message: `its agent '${step.agent}' has no legal name` };
  return boundsProblem(step) ?? ladderProblem(step) ?? referenceProblem(step, plan);
}

function boundsProblem(step: PlanStep): Problem | undefined {
  for (const key of ['timeoutMs', 'leaseMs', 'pickupMs', 'settleMs'] as const) {
    if (!isDuration(step[key])) {
      return { reason: 'unbounded', message: `${key} is ${String(step[key])}, so it could wait for ever` };
    }
  }
  if (!['idempotent', 'probed'].includes(step.effect)) {
    return {
      reason: 'bad-effect',
      message: `effect '${String(step.effect)}' is not 'idempotent' or 'probed'`,
    };
  }
  return undefined;
}

function ladderProblem(step: PlanStep): Problem | undefined {
  const rungs = step.undo === 'none' ? step.ladder : [...step.ladder, step.undo];
  for (const rung of rungs) {
    const endless =
      rung.kind !== 'retry' ||
      !Number.isInteger(rung.attempts) ||
      rung.attempts < 0 ||
      rung.attempts > PLAN_LIMITS.attempts;
    if (endless) {
      return {
        reason: 'endless-ladder',
        message: `a ladder must end: retry takes 0 to ${PLAN_LIMITS.attempts} attempts`,
      };
    }
    if (!isDuration(rung.firstMs) || !isDuration(rung.maxMs) || rung.firstMs > rung.maxMs) {
      return { reason: 'bad-backoff', message: "retry needs 0 < 'first' ≤ 'max'" };
    }
  }
  return undefined;
}

function referenceProblem(step: PlanStep, plan: Plan): Problem | undefined {
  const known = new Set(plan.steps.map((other) => other.name));
  for (const name of step.after) {
    if (!known.has(name))
      return { reason: 'unknown-step', message: `it comes after '${name}', which does not exist` };
  }
  for (const expr of step.when === undefined ? [step.input] : [step.input, step.when]) {
    const problem = exprProblem(expr);
    if (problem !== undefined) return { reason: 'bad-expression', message: `an expression ${problem}` };
    const stranger = stepsIn(expr).find((name) => !isBefore(plan, name, step.name));
    if (stranger !== undefined) {
      return {
        reason: 'not-a-predecessor',
        message: `it reads the output of '${stranger}', which need not be done before it`,
      };
    }
  }
  return undefined;
}

/** Evaluation descends: an expression is no deeper than any stack. */
const EXPR_LIMITS = { depth: 64, nodes: 20_000 };

function exprProblem(expr: Expr): string | undefined {
  // Also inside literals, which hold values as they are: no references, no dates, no functions.
  const problem = jsonProblem(expr, EXPR_LIMITS);
  if (problem !== undefined) return `must become JSON: ${problem}`;
  const queue: Expr[] = [expr];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (Array.isArray(next)) queue.push(...(next as Expr[]));
    if (!isJsonObject(next)) continue;
    for (const key of Object.keys(next)) {
      if (key.startsWith('$') && !OPERATORS.has(key)) return `has the unknown operator '${key}'`;
    }
    if (!Object.hasOwn(next, '$literal')) queue.push(...Object.values(next));
  }
  return undefined;
}

function strangersIn(expr: Expr, plan: Plan): string | undefined {
  const stranger = stepsIn(expr).find((name) => !plan.steps.some((step) => step.name === name));
  return stranger === undefined ? undefined : `reads the output of '${stranger}', which does not exist`;
}

/** The steps of one cycle, or nothing. Removes steps without open predecessors until none is left. */
function cycleIn(plan: Plan): string[] | undefined {
  let open = [...plan.steps];
  for (;;) {
    const names = new Set(open.map((step) => step.name));
    const rest = open.filter((step) => step.after.some((name) => names.has(name)));
    if (rest.length === 0) return undefined;
    if (rest.length === open.length) return walkCycle(rest);
    open = rest;
  }
}

function walkCycle(steps: readonly PlanStep[]): string[] {
  const names = new Set(steps.map((step) => step.name));
  const path: string[] = [];
  let at = steps[0];
  while (at !== undefined && !path.includes(at.name)) {
    path.push(at.name);
    const previous = at.after.find((name) => names.has(name));
    at = steps.find((step) => step.name === previous);
  }
  return at === undefined ? path : [...path.slice(path.indexOf(at.name)), at.name].toReversed();
}

const isDuration = (ms: number): boolean => Number.isFinite(ms) && ms > 0 && ms <= MAX_DURATION_MS;
