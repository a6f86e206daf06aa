/**
 * Fair shares: an execution's group, so that one customer's backlog does not delay other customers.
 *
 * Owns: the group's value for an input. Does not own: which fields an author may name
 * (`author/checks/check-input-fields.ts`), the hash that goes out with each message (`scheduler/start.ts`),
 * which group has its turn (the queue).
 */

import type { Json } from '../values/json.ts';
import { evaluateExpression, type Expr } from './refs.ts';

/** The group; undefined if the input names none: such executions share one turn. */
export function fairValueOf(fairBy: Expr | undefined, input: Json): string | undefined {
  const value =
    fairBy === undefined ? undefined : evaluateExpression(fairBy, { input, output: () => undefined });
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
