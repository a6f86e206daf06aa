/**
 * Refuses conditions that can never be true and references to values that may be missing.
 *
 * Does not own: which steps may fail (`core/plan/outcomes.ts`), the evaluation of a condition
 * (`core/plan/refs.ts`).
 */

import { isTolerated } from '../../core/plan/outcomes.ts';
import type { Plan, PlanStep } from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { nameOf } from '../references.ts';
import { type Reference, refsIn } from '../../core/plan/refs-in.ts';
import { isJsonObject } from '../../core/values/json.ts';
import { problem, type Problem } from './refusal.ts';

/** True if a step may end without an output: it may fail, or be skipped. */
const mayHaveNoOutput = (step: PlanStep): boolean => isTolerated(step) || step.when !== undefined;

/**
 * Returns the mistake in an expression that reads outcomes, failures and outputs.
 * @param reader the step with its own condition; absent for the workflow's output
 */
export function outcomeProblem(expr: Expr, plan: Plan, reader?: PlanStep): Problem | undefined {
  const stepOf = (name: string): PlanStep | undefined => plan.steps.find((step) => step.name === name);
  for (const name of failuresIn(expr)) {
    const step = stepOf(name);
    if (step === undefined || isTolerated(step)) continue;
    const instead =
      step.kind === 'map'
        ? `a list's own 'mayFail' is for its items; read ${name}.output.failed`
        : `say 'mayFail: true' on '${name}'`;
    const message = `it asks how '${name}' failed, but a failure of '${name}' ends the whole execution: ${instead}`;
    return problem('failure-not-tolerated', message);
  }
  const certain = new Map(
    (['succeeded', 'failed'] as const).map((one) => [one, certainIn(reader?.when, one, plan)]),
  );
  for (const { source, path } of unguarded(expr)) {
    const [kind, name = ''] = source.split(':');
    const step = stepOf(name);
    if (step === undefined || (kind !== 'step' && kind !== 'failure')) continue;
    const needed = kind === 'step' ? 'succeeded' : 'failed';
    if (kind === 'step' && !mayHaveNoOutput(step)) continue;
    if (certain.get(needed)?.has(name) === true) continue;
    const read = nameOf(source, path);
    const why = kind === 'failure' ? 'need not fail' : isTolerated(step) ? 'may fail' : 'may be skipped';
    const or =
      reader === undefined
        ? ''
        : `, or '${whenText(`${needed}(${name})`, reader.when)}' on the step that reads it`;
    const message = `it reads ${read}, and '${name}' ${why}: write orElse(${read}, …)${or}`;
    return problem('output-may-be-missing', message);
  }
  return undefined;
}

/** Returns the text of a `when` that adds this condition to the step's own. */
export const whenText = (condition: string, when: Expr | undefined): string =>
  `when: ${when === undefined ? condition : `and(${condition}, …)`}`;

/** The steps whose failure an expression reads: `failed(x)`, x.failure. */
const failuresIn = (expr: Expr): string[] => [
  ...new Set([
    ...refsIn(expr).flatMap(({ source }) => (source.startsWith('failure:') ? [source.slice(8)] : [])),
    ...outcomesAsked(expr, 'failed'),
  ]),
];

/** Returns the steps whose outcome an expression, in any part, compares with this one. */
function outcomesAsked(expr: Expr, outcome: Outcome): string[] {
  if (Array.isArray(expr)) return expr.flatMap((item) => outcomesAsked(item as Expr, outcome));
  if (!isJsonObject(expr) || Object.hasOwn(expr, '$literal')) return [];
  const asked = outcomeIn(expr);
  if (asked !== undefined) return asked.outcome === outcome ? [asked.step] : [];
  return Object.values(expr).flatMap((item) => outcomesAsked(item, outcome));
}

type Outcome = 'succeeded' | 'failed' | 'skipped';

/** The step and the outcome in `succeeded(x)`, which is `{ $eq: [outcome of x, 'succeeded'] }`. */
function outcomeIn(expr: Expr): { readonly step: string; readonly outcome: string } | undefined {
  const pair = isJsonObject(expr) ? expr['$eq'] : undefined;
  if (!Array.isArray(pair)) return undefined;
  const [left, outcome] = pair as Expr[];
  const source = isJsonObject(left) ? left['$ref'] : undefined;
  if (typeof source !== 'string' || !source.startsWith('outcome:')) return undefined;
  return typeof outcome === 'string' ? { step: source.slice('outcome:'.length), outcome } : undefined;
}

/**
 * Returns the steps that must have ended with this outcome if a condition is true, also by their own
 * conditions.
 */
const certainIn = (when: Expr | undefined, outcome: Outcome, plan: Plan): ReadonlySet<string> =>
  new Set(
    impliedBy(when, plan).flatMap((condition) => {
      const asked = outcomeIn(condition);
      return asked?.outcome === outcome ? [asked.step] : [];
    }),
  );

/**
 * Returns the conditions that are true if this one is: its parts, and the conditions of the steps that it
 * shows were not skipped.
 */
export function impliedBy(when: Expr | undefined, plan: Plan): Expr[] {
  const found: Expr[] = [];
  const open: Expr[] = when === undefined ? [] : [when];
  const followed = new Set<string>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    found.push(next);
    const all = isJsonObject(next) ? next['$and'] : undefined;
    if (Array.isArray(all)) open.push(...(all as Expr[]));
    const asked = outcomeIn(next);
    const step = plan.steps.find(({ name }) => name === asked?.step);
    // The condition of a step that was not skipped is true.
    if (asked?.outcome !== 'skipped' && step?.when !== undefined && !followed.has(step.name)) {
      followed.add(step.name);
      open.push(step.when);
    }
  }
  return found;
}

/**
 * Returns the references of an expression, except those with a replacement (`orElse`) and those that are only
 * tested for existence (`exists`).
 */
export function unguarded(expr: Expr): Reference[] {
  if (Array.isArray(expr)) return expr.flatMap((item) => unguarded(item as Expr));
  if (!isJsonObject(expr) || Object.hasOwn(expr, '$literal')) return [];
  if (Object.hasOwn(expr, '$ref')) return refsIn(expr);
  if (Object.hasOwn(expr, '$exists')) return unguardedBehind(expr['$exists'] as Expr);
  const pair = expr['$orElse'];
  if (Array.isArray(pair))
    return [...unguardedBehind(pair[0] as Expr), ...unguarded((pair as Expr[]).slice(1))];
  return Object.values(expr).flatMap(unguarded);
}

/**
 * Like `unguarded`, but accepts a reference or its replacement itself, because these may have no value; all
 * other expressions always have one.
 */
function unguardedBehind(expr: Expr): Reference[] {
  const pair = isJsonObject(expr) ? expr['$orElse'] : undefined;
  if (Array.isArray(pair)) return (pair as Expr[]).flatMap(unguardedBehind);
  return isJsonObject(expr) && Object.hasOwn(expr, '$ref') ? [] : unguarded(expr);
}

/** Returns the problem with a step's `mayFail`. */
export function tolerateProblem(step: PlanStep): Problem | undefined {
  if (step.kind === 'map' || step.tolerate === undefined) return undefined;
  if ((step.tolerate as unknown) !== true) {
    const message = `its mayFail is ${JSON.stringify(step.tolerate)}; write 'mayFail: true', or leave it out (a number or a share is for lists)`;
    return problem('bad-tolerance', message);
  }
  if (step.pointOfNoReturn !== true) return undefined;
  const message =
    "the failure of a point of no return cannot be tolerated: the steps after it depend on its success. Leave 'mayFail' out, or move the part that may fail into a separate step";
  return problem('tolerated-point-of-no-return', message);
}
