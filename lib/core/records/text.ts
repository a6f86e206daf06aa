/**
 * Text that is Unicode: no half of a character, which a store, a queue and a hash would each make something else of.
 *
 * Owns: how text is cut, and made well-formed where it cannot be refused; how an instant is written in a sentence. Does not own: where it
 * is refused (`json.ts`).
 */

import { type Json, isJsonObject } from './json.ts';

/** At most so many UTF-16 units of a text, and no half of a character. */
export const cut = (text: string, chars: number): string =>
  (text.length > chars ? text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '') : text).toWellFormed();

/** The value with U+FFFD for each half of a character, in keys as well; where there is none, the very value. */
export function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value))
    return sameOr(value as readonly Json[], (value as readonly Json[]).map(wellFormed));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)] as const);
  const isSame = entries.every(([key, item]) => Object.hasOwn(value, key) && value[key] === item);
  return isSame ? value : Object.fromEntries(entries);
}

const sameOr = (before: readonly Json[], after: readonly Json[]): readonly Json[] =>
  after.every((item, at) => item === before[at]) ? before : after;

/** '2026-11-21 09:36:02Z': the one way in which sentences, tables and logs write an instant; the page puts it into its reader's zone. */
export const timeText = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
