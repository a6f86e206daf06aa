/**
 * Tags by which executions of a workflow are found.
 *
 * Owns: what an author may name, what an execution is found by. Does not own: the
 * indexes (`aws/dynamo-indexes.ts`).
 *
 * A trigger gives no tags, and a parent none to its child: so a field of the input
 * stands in for a tag of its name.
 */

import { isJsonObject, type Json } from '../values/json.ts';
import type { Execution } from '../records/state.ts';
import type { Plan } from './plan.ts';
import { problem, type Problem } from './refusal.ts';

/** An index each, of which each costs a write unit at the start. */
export const MAX_SEARCH = 3;
/** Characters of a tag's value, as the API takes them. */
export const MAX_TAG_CHARS = 200;
/** As a tag's name, but a request says `name:value`. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

export function searchProblem(search: readonly string[]): Problem | undefined {
  const bad = search.find((name) => typeof name !== 'string' || !NAME.test(name));
  if (bad !== undefined)
    return problem(
      'bad-search',
      `search has ${JSON.stringify(bad)}; a tag's name has up to 64 letters, digits and . _ -`,
    );
  if (search.length > MAX_SEARCH)
    return problem(
      'bad-search',
      `search has ${search.length} names; at most ${MAX_SEARCH} are allowed, because each needs an index`,
    );
  const twice = search.find((name, at) => search.indexOf(name) !== at);
  return twice === undefined ? undefined : problem('bad-search', `search has '${twice}' twice`);
}

/** The tags of an execution with those of its input that it is found by, and the names of these. */
export function searched(
  { search = [] }: Plan,
  { input, tags }: Pick<Execution, 'input' | 'tags'>,
): Pick<Execution, 'tags' | 'search'> {
  const found = search.flatMap((name): [string, string][] => {
    const value = tags?.[name] ?? textOf(input, name);
    return value === undefined || value === '' || value.length > MAX_TAG_CHARS ? [] : [[name, value]];
  });
  if (found.length === 0) return {};
  return { tags: { ...tags, ...Object.fromEntries(found) }, search: found.map(([name]) => name) };
}

function textOf(input: Json, name: string): string | undefined {
  const value = isJsonObject(input) && Object.hasOwn(input, name) ? input[name] : undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}
