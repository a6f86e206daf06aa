/**
 * Tags by which executions of a workflow are found.
 *
 * Owns: an execution's searchable tags. Does not own: which an author may name
 * (`author/checks/check-input-fields.ts`), the indexes (`aws/dynamo-indexes.ts`).
 *
 * A field of the input can replace a tag of its name, because a trigger gives no tags, nor does a parent give
 * its child any.
 */

import { isJsonObject, type Json } from '../values/json.ts';
import type { Execution } from '../records/state.ts';
import type { Plan } from './plan.ts';

/** The most characters of a tag's value, as the API accepts them. */
export const MAX_TAG_CHARS = 200;
/** The tags of an execution plus those read from its input, and the names of the searchable ones. */
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
