/**
 * Checks a plan: everything that is refused when a workflow is built.
 *
 * Owns: `checkPlan` and the reasons. A plan that could hang, lie or grow without bound is never accepted
 * (P1).
 */

import { EFFECTS } from '../../core/plan/agent.ts';
import { isDurationMs } from '../../core/values/duration.ts';
import { canonicalJson, isJsonObject, type Json, jsonProblem, utf8Bytes } from '../../core/values/json.ts';
import { isName, NAME_WANTED } from '../../core/values/names.ts';
import {
  type AskPersonStage,
  isBefore,
  type AgentStep,
  expressionsOf,
  ofRounds,
  ownExpressions,
  type Plan,
  PLAN_LIMITS,
  type PlanStep,
  type RetryStage,
  type Stage,
  type StepLimits,
} from '../../core/plan/plan.ts';
import {
  type Each,
  longerThanWithin,
  reminderProblem,
  waitingStepProblem,
  withinProblem,
  sourceProblem,
} from './check-waiting.ts';
import { onFailureProblem } from './check-on-failure.ts';
import { pointProblem, undoProblem } from './check-points.ts';
import { outcomeProblem, tolerateProblem } from './check-outcomes.ts';
import { type Expr, OPERATORS } from '../../core/plan/refs.ts';
import { DECLARED_STEP } from '../references.ts';
import { stepsIn } from '../../core/plan/refs-in.ts';
import { problem, type Problem, refusal } from './refusal.ts';
import { fairProblem, searchProblem } from './check-input-fields.ts';
import { laneProblem } from './check-lane.ts';

/**
 * Refuses a plan that could hang, lie or grow without bound.
 * @throws SteadfastError `workflow-refused` whose message names the workflow, the step and the reason, and
 * whose details are `{ workflow, step?, reason }`
 */
export function checkPlan(plan: Plan): void {
  const refused = (reason: string, message: string, step?: string): Error =>
    refusal(plan.workflow, step, problem(reason, message));
  if (!isName(plan.workflow)) throw refused('bad-name', `the name is not allowed: ${NAME_WANTED}`);
  if (!isDurationMs(plan.withinMs)) {
    throw refused(
      'unbounded',
      "it has no 'within': say how long an execution may take at most, for example '1h'",
    );
  }
  if (plan.pauseWithinMs !== undefined && !isDurationMs(plan.pauseWithinMs)) {
    throw refused(
      'unbounded',
      `its pauseWithinMs is ${String(plan.pauseWithinMs)}; leave it out or give a time`,
    );
  }
  const search = searchProblem(plan.search ?? []);
  if (search !== undefined) throw refusal(plan.workflow, undefined, search);
  const unread = plan.fairBy === undefined ? undefined : exprProblem(plan.fairBy);
  if (unread !== undefined) throw refused('bad-fair-by', `its 'fairBy' ${unread}`);
  const fair = fairProblem(plan.fairBy);
  if (fair !== undefined) throw refusal(plan.workflow, undefined, fair);
  const lane = laneProblem(plan);
  if (lane !== undefined) throw refusal(plan.workflow, lane.step, lane.problem);
  if (plan.steps.length === 0) throw refused('no-end', 'it has no steps, so it would never end');
  if (plan.steps.length > PLAN_LIMITS.steps) {
    throw refused(
      'too-many-steps',
      `it has ${plan.steps.length} steps; at most ${PLAN_LIMITS.steps} are allowed`,
    );
  }
  const seen = new Set<string>();
  for (const step of plan.steps) {
    const found = stepProblem(step, seen, plan);
    if (found !== undefined) throw refusal(plan.workflow, step.name, found);
    seen.add(step.name);
  }
  const cycle = walkCycle(inOrder(plan.steps).rest);
  if (cycle.length > 0)
    throw refused('cycle', `its steps wait for each other: ${cycle.join(' → ')}`, cycle[0]);
  for (const step of plan.steps) {
    const found = outcomeProblem(expressionsOf(step), plan, step);
    if (found !== undefined) throw refusal(plan.workflow, step.name, found);
  }
  const output = exprProblem(plan.output) ?? strangersIn(plan.output, plan);
  if (output !== undefined) throw refused('bad-output', `the output ${output}`);
  const source = sourceProblem(plan.output, plan);
  if (source !== undefined) throw refused('bad-output', `in its output: ${source.message}`);
  const missing = outcomeProblem(plan.output, plan);
  if (missing !== undefined) throw refused(missing.reason, `in its output: ${missing.message}`);
  const checks = { named: nameProblem, agent: agentProblem, expression: exprProblem };
  const later = onFailureProblem(plan, checks);
  if (later !== undefined) throw refusal(plan.workflow, later.step, later.problem);
  const bytes = utf8Bytes(canonicalJson(plan as unknown as Json));
  if (bytes > PLAN_LIMITS.bytes) {
    throw refused('too-large', `its plan has ${bytes} bytes; at most ${PLAN_LIMITS.bytes} are allowed`);
  }
}

function nameProblem({ name }: PlanStep, seen: ReadonlySet<string>): Problem | undefined {
  if (!isName(name)) return problem('bad-name', `the name is not allowed: ${NAME_WANTED}`);
  return seen.has(name)
    ? problem('duplicate-name', 'two steps have this name; give one of them another')
    : undefined;
}

function stepProblem(step: PlanStep, seen: ReadonlySet<string>, plan: Plan): Problem | undefined {
  const named = nameProblem(step, seen);
  if (named !== undefined) return named;
  const ofKind =
    step.kind === 'agent'
      ? agentProblem(step, plan)
      : (pointProblem(step, plan) ??
        waitingStepProblem(step, plan, agentProblem) ??
        triesOfChild(step, plan));
  return ofKind ?? withinProblem(step, plan) ?? tolerateProblem(step) ?? referenceProblem(step, plan);
}

function agentProblem(step: AgentStep, plan: Plan): Problem | undefined {
  if (!isName(step.agent)) return problem('bad-name', `its agent '${step.agent}' has no valid name`);
  return limitsProblem(step, '') ?? recoveryProblem(step, plan) ?? undoProblem(step);
}

/** @param whose '' for the step itself, otherwise the stage with these limits */
function limitsProblem(limits: StepLimits, whose: string): Problem | undefined {
  for (const key of ['timeoutMs', 'leaseMs', 'pickupMs', 'settleMs'] as const) {
    if (!isDurationMs(limits[key]))
      return problem('unbounded', `${whose}${key} is ${String(limits[key])}, so it could wait for ever`);
  }
  for (const key of ['maxNoProgressMs', 'acceptsMs'] as const) {
    const ms = limits[key];
    if (ms !== undefined && !isDurationMs(ms))
      return problem('unbounded', `${whose}${key} is ${String(ms)}; leave it out or give a time`);
  }
  if (!EFFECTS.includes(limits.effect)) {
    const message = `${whose}effect '${String(limits.effect)}' is not 'idempotent', 'probed', 'unsafe' or 'none'`;
    return problem('bad-effect', message);
  }
  return undefined;
}

function recoveryProblem(step: AgentStep, plan: Plan): Problem | undefined {
  const undo = step.undo === 'none' ? [] : [step.undo];
  return stagesProblem(step.recovery, undo, plan) ?? unsafeProblem(step) ?? noneProblem(step);
}

function stagesProblem(
  recovery: readonly Stage[],
  undo: readonly RetryStage[],
  plan: Plan,
): Problem | undefined {
  for (const stage of [...recovery, ...undo]) {
    const found = stage.kind === 'askPerson' ? humanProblem(stage, plan) : triesProblem(stage);
    if (found !== undefined) return found;
  }
  const person = recovery.findIndex((stage) => stage.kind === 'askPerson');
  return person >= 0 && person !== recovery.length - 1
    ? problem('unreachable-stage', 'askPerson must be the last stage: a stage after it is never tried')
    : undefined;
}

/** Refuses other stages for a child, because each try runs the same workflow. */
function triesOfChild(step: PlanStep, plan: Plan): Problem | undefined {
  const child = step.kind === 'map' ? step.each : step;
  const recovery: readonly Stage[] = (child.kind === 'child' ? child.recovery : undefined) ?? [];
  if (recovery.some(({ kind }) => kind === 'useAgent')) {
    const message =
      "no agent performs it, so useAgent changes nothing: write retry, withInput or askPerson; for another workflow instead, write 'mayFail: true' here, and add a child with 'when: failed(…)'";
    return problem('bad-stage', message);
  }
  return stagesProblem(recovery, [], plan);
}

function humanProblem(stage: AskPersonStage, plan: Plan): Problem | undefined {
  if (!isDurationMs(stage.withinMs))
    return problem('unbounded', "its askPerson stage has no 'within', so it could wait for ever");
  if (stage.otherwise !== 'undo' && stage.otherwise !== 'keep')
    return problem('bad-stage', "askPerson's 'otherwise' must be 'undo' or 'keep'");
  return (
    longerThanWithin(stage.withinMs, plan, 'its askPerson stage gives a person') ??
    reminderProblem(stage, 'its askPerson stage')
  );
}

function triesProblem(stage: Exclude<Stage, AskPersonStage>): Problem | undefined {
  const known = ['retry', 'withInput', 'useAgent'].includes(stage.kind);
  const least = stage.kind === 'retry' ? 0 : 1;
  const { attempts } = stage;
  if (!known || !Number.isInteger(attempts) || attempts < least || attempts > PLAN_LIMITS.attempts) {
    const message = `a recovery must end: ${known ? stage.kind : 'a stage'} takes ${least} to ${PLAN_LIMITS.attempts} attempts`;
    return problem('endless-recovery', message);
  }
  if (!isDurationMs(stage.firstMs) || !isDurationMs(stage.maxMs) || stage.firstMs > stage.maxMs)
    return problem('bad-backoff', `${stage.kind} needs 0 < 'first' ≤ 'max'`);
  if (stage.kind !== 'useAgent') return undefined;
  if (!isName(stage.agent)) return problem('bad-name', `useAgent: '${stage.agent}' is not a legal name`);
  return limitsProblem(stage, `agent '${stage.agent}': `);
}

/** Refuses automatic retries of a step that can neither be repeated nor probed. */
function unsafeProblem(step: AgentStep): Problem | undefined {
  const unsafe = [step, ...step.recovery].some((one) => 'effect' in one && one.effect === 'unsafe');
  if (!unsafe) return undefined;
  if (step.recovery.some((stage) => stage.kind !== 'askPerson')) {
    const message = "an 'unsafe' effect must not be retried automatically: its recovery is [askPerson(…)]";
    return problem('unsafe-retry', message);
  }
  if (step.recovery.length > 0) return undefined;
  const message = "an 'unsafe' effect needs an askPerson stage: only a person can decide how to continue";
  return problem('unsafe-without-person', message);
}

/** Refuses an undo and a point of no return for an agent that has no lasting effect. */
function noneProblem(step: AgentStep): Problem | undefined {
  const agents = [step, ...step.recovery.filter((stage) => stage.kind === 'useAgent')];
  const none = agents.filter(({ effect }) => effect === 'none');
  if (none.some(({ undo }) => undo !== 'none')) {
    const message =
      "effect 'none' leaves nothing to undo: leave 'undo' out, or declare the agent with effect: 'idempotent'";
    return problem('undo-of-nothing', message);
  }
  if (none.length === 0 || step.pointOfNoReturn !== true) return undefined;
  const message =
    "an agent with effect 'none' cannot be a point of no return, because abandoning its work is harmless: leave 'pointOfNoReturn' out, or declare the agent with its effect";
  return problem('point-without-effect', message);
}

function referenceProblem(step: PlanStep, plan: Plan): Problem | undefined {
  const known = new Set(plan.steps.map((other) => other.name));
  for (const name of step.after) {
    if (known.has(name)) continue;
    const isLater = plan.onFailure?.some((other) => other.name === name) === true;
    const why = isLater
      ? 'is an on-failure step, and so begins only after all other steps: use it in w.onFailure alone'
      : 'does not exist';
    return problem('unknown-step', `it comes after '${name}', which ${why}`);
  }
  for (const expr of expressionsOf(step)) {
    const bad = exprProblem(expr);
    if (bad !== undefined) return problem('bad-expression', `an expression ${bad}`);
    const source = sourceProblem(expr, plan, eachOf(step, expr));
    if (source !== undefined) return source;
    const stranger = stepsIn(expr).find((name) => !isBefore(plan, name, step.name));
    if (stranger !== undefined) {
      const message = `it reads the output of '${stranger}', which may not be done before it: add '${stranger}' to 'after'`;
      return problem('not-a-predecessor', message);
    }
  }
  return undefined;
}

function eachOf(step: PlanStep, expr: Expr): Each | undefined {
  if (step.kind === 'map') return ownExpressions(step.each).includes(expr) ? 'item' : undefined;
  return step.kind === 'child' && ofRounds(step).includes(expr) ? 'round' : undefined;
}

/** The limits of an expression; its evaluation is recursive, and must not overflow the stack. */
const EXPR_LIMITS = { depth: 64, nodes: 20_000 };

function exprProblem(expr: Expr): string | undefined {
  // Also inside literals, which contain plain values: no references, dates or functions.
  const notJson = jsonProblem(expr, EXPR_LIMITS);
  if (notJson !== undefined)
    return `must become JSON: ${notJson.replaceAll('/$literal', '')}${notJson.endsWith(` ${DECLARED_STEP}`) ? ': give its `.output`' : ''}`;
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

/** Returns the steps after their predecessors, and those in a cycle as the rest. */
export function inOrder(steps: readonly PlanStep[]): { ordered: PlanStep[]; rest: PlanStep[] } {
  const ordered: PlanStep[] = [];
  let rest = [...steps];
  for (;;) {
    const waiting = new Set(rest.map((step) => step.name));
    const free = rest.filter((step) => !step.after.some((name) => waiting.has(name)));
    if (free.length === 0) return { ordered, rest };
    ordered.push(...free);
    rest = rest.filter((step) => !free.includes(step));
  }
}

/** Returns the names of the steps in one cycle. */
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
