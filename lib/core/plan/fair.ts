/**
 * Fair shares: whose an execution is, so that one customer's many do not stand before another's one.
 *
 * Owns: its value for an input. Does not own: what an author may name
 * (`author/checks/check-input-fields.ts`), the hash that goes out with each
 * message (`scheduler/start.ts`), whose turn it is (the queue).
 */

import type { Json } from '../values/json.ts';
import { evaluateExpression, type Expr } from './refs.ts';

/** Nothing where the input names none: such executions share one turn. */
export function fairValueOf(fairBy: Expr | undefined, input: Json): string | undefined {
  const value =
    fairBy === undefined ? undefined : evaluateExpression(fairBy, { input, output: () => undefined });
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
