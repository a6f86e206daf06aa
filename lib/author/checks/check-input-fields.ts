/**
 * Checks the fields of the input that a workflow names for its tenant and its tags.
 *
 * Does not own: their values for an input (`core/plan/fair.ts`, `core/plan/search.ts`).
 */

import type { Expr } from '../../core/plan/refs.ts';
import { sourcesIn } from '../../core/plan/refs-in.ts';
import { isJsonObject } from '../../core/values/json.ts';
import { problem, type Problem } from './refusal.ts';

/** The most tags of a workflow: each has an index, which costs a write unit per start. */
export const MAX_SEARCH = 3;
/** The characters of a tag's name. A colon is not allowed, because a request writes `name:value`. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

export function fairProblem(fairBy: Expr | undefined): Problem | undefined {
  if (fairBy === undefined) return undefined;
  const others = sourcesIn(fairBy).filter((source) => source !== 'input');
  const isOfInput = others.length === 0 && sourcesIn(fairBy).length > 0;
  if (isOfInput && isOneValue(fairBy)) return undefined;
  const what = isOfInput ? 'is never a text or a number' : 'reads nothing of the input';
  const message = `'fairBy' ${what}: return a text or a number of it, for example fairBy: (input) => input.tenant`;
  return problem('bad-fair-by', message);
}

/** True if an expression gives one value. Lists, objects and conditions cannot name a tenant. */
export const isOneValue = (expr: Expr): boolean =>
  isJsonObject(expr) && ONE_VALUE.some((operator) => Object.hasOwn(expr, operator));
const ONE_VALUE = ['$ref', '$concat', '$length', '$orElse'] as const;

export function searchProblem(search: readonly string[]): Problem | undefined {
  const bad = search.find((name) => typeof name !== 'string' || !NAME.test(name));
  if (bad !== undefined)
    return problem(
      'bad-tags',
      `tags has ${JSON.stringify(bad)}; a tag's name has up to 64 letters, digits and . _ -`,
    );
  if (search.length > MAX_SEARCH)
    return problem(
      'bad-tags',
      `tags has ${search.length} names; at most ${MAX_SEARCH} are allowed, because each needs an index`,
    );
  const twice = search.find((name, at) => search.indexOf(name) !== at);
  return twice === undefined ? undefined : problem('bad-tags', `tags has '${twice}' twice`);
}
