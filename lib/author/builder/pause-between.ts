/**
 * The pause between two rounds: a wait at the end of a round's plan, skipped if the round is the last.
 *
 * Owns: that step, and the conversion of the rounds' condition for the round's own plan. Does not own: when
 * another round begins (`core/waiting/rounds.ts`, which does not see the pause).
 */

import type { Expr } from '../../core/plan/refs.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { stepsIn } from '../../core/plan/refs-in.ts';
import { isJsonObject, type Json } from '../../core/values/json.ts';

/** @param ends the condition that ends the rounds; it reads `last` and `given` */
export function withPause(plan: Plan, ends: Expr, forMs: number): Plan {
  const when = { $not: asRound(ends, plan.output) };
  const before = new Set(plan.steps.flatMap(({ after }) => after));
  const last = plan.steps.map(({ name }) => name).filter((name) => !before.has(name));
  const after = [...new Set([...last, ...stepsIn(when)])];
  const name = freeName([...plan.steps, ...(plan.onFailure ?? [])].map((step) => step.name));
  const steps = [...plan.steps, { kind: 'wait', name, after, when, forMs } as const];
  return { ...plan, steps };
}

function freeName(taken: readonly string[]): string {
  const names = ['pause', ...taken.map((_, at) => `pause-${at + 2}`)];
  return names.find((name) => !taken.includes(name)) ?? 'pause';
}

/** Rewrites the condition for the round's plan: `given` becomes its input, `last` its output. */
function asRound(expr: Expr, output: Expr): Expr {
  if (Array.isArray(expr)) return expr.map((item) => asRound(item as Expr, output));
  if (!isJsonObject(expr) || Object.hasOwn(expr, '$literal')) return expr;
  const { $ref, path = [] } = expr;
  if ($ref === 'given') return { ...expr, $ref: 'input' };
  if ($ref === 'last') return valueAt(output, path as readonly Json[]) ?? NOTHING;
  return Object.fromEntries(Object.entries(expr).map(([key, item]) => [key, asRound(item, output)]));
}

/**
 * Follows a path within an expression and returns the part at its end; undefined if only the value can show
 * it.
 */
export function valueAt(expr: Expr, path: readonly Json[]): Expr | undefined {
  const [key, ...rest] = path;
  if (typeof key !== 'string') return expr;
  if (Array.isArray(expr))
    return /^\d+$/.test(key) ? valueAt((expr[Number(key)] ?? null) as Expr, rest) : NOTHING;
  if (!isJsonObject(expr)) return NOTHING;
  const { $ref, path: known = [], $literal, $object } = expr;
  if ($ref !== undefined) return { ...expr, path: [...(known as Json[]), ...path] };
  if ($literal !== undefined) return undefined;
  if ($object === undefined && Object.keys(expr).some((name) => name.startsWith('$'))) return undefined;
  const fields = Array.isArray($object) ? ($object as [string, Expr][]) : Object.entries(expr);
  const [, item] = fields.findLast(([name]) => name === key) ?? [];
  return item === undefined ? NOTHING : valueAt(item, rest);
}

/** An expression that never has a value, because a number has no length. */
const NOTHING: Expr = { $length: 0 };
