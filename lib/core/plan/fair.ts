/**
 * Fair shares: whose an execution is, so that one customer's many do not stand before another's one.
 *
 * Owns: what an author may name, and its value for an input. Does not own: the hash that goes out with each
 * message (`scheduler/start.ts`), whose turn it is (the queue).
 */

import { isJsonObject, type Json } from '../values/json.ts';
import { evaluateExpression, type Expr } from './refs.ts';
import { sourcesIn } from './refs-in.ts';
import { problem, type Problem } from './refusal.ts';

export function fairProblem(fairBy: Expr | undefined): Problem | undefined {
  if (fairBy === undefined) return undefined;
  const others = sourcesIn(fairBy).filter((source) => source !== 'input');
  const isOfInput = others.length === 0 && sourcesIn(fairBy).length > 0;
  if (isOfInput && isOneValue(fairBy)) return undefined;
  const what = isOfInput ? 'is never a text or a number' : 'reads nothing of the input';
  const message = `'fairBy' ${what}: return a text or a number of it, for example fairBy: (input) => input.tenant`;
  return problem('bad-fair-by', message);
}

/** Lists, objects and conditions name nobody. */
export const isOneValue = (expr: Expr): boolean =>
  isJsonObject(expr) && ONE_VALUE.some((operator) => Object.hasOwn(expr, operator));
const ONE_VALUE = ['$ref', '$concat', '$length', '$orElse'] as const;

/** Nothing where the input names none: such executions share one turn. */
export function fairValueOf(fairBy: Expr | undefined, input: Json): string | undefined {
  const value =
    fairBy === undefined ? undefined : evaluateExpression(fairBy, { input, output: () => undefined });
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
