/**
 * Text that is Unicode: no half of a character, which a store, a queue and a hash would each make something else of.
 *
 * Owns: how text is cut, and made well-formed where it cannot be refused; how an instant and a duration are written in a sentence. Does not own: where it
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

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** In its two largest units: '850 ms', '1.2 s', '2 min 5 s', '1 h'. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return parts.join(' ');
}
