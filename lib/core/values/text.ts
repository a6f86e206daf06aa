/**
 * Unicode text, without halves of surrogate pairs, which a store, a queue and a hash would each change
 * differently.
 *
 * Owns: how text is cut, made printable, and made well-formed if it cannot be refused; how an instant and a
 * duration are written in a sentence. Does not own: refusing text (`json.ts`).
 */

import { type Json, isJsonObject } from './json.ts';

/** The first UTF-16 units of a text, without half of a pair. */
export const cut = (text: string, chars: number): string =>
  (text.length > chars ? text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '') : text).toWellFormed();

/**
 * The text with escapes for control characters and for characters that change its direction, which a terminal
 * would obey.
 */
export const printable = (text: string): string => text.replace(NOT_PRINTABLE, escaped);

/** The same, but keeps line ends and tabs: for a whole answer, whose layout is ours. */
export const printableLines = (text: string): string =>
  text.replace(NOT_PRINTABLE, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );

const NOT_PRINTABLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const escaped = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;

/**
 * True if the text fits the pattern: `*` stands for any characters, or none, and `\*` for itself. It takes at
 * most the product of both lengths: each piece is searched once, after the one before it.
 */
export function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split(/(?<!\\)\*/).map((piece) => piece.replaceAll('\\*', '*'));
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/** True if it has U+FFFD, which replaces all bytes that are not UTF-8. */
export const hasReplacement = (text: string): boolean => text.includes('\uFFFD');

/** Why such a text cannot be a key. */
export const REPLACED_IN_KEY =
  'it has U+FFFD, which replaces bytes that were not UTF-8, so two different keys could become one';

/** The value with U+FFFD for each half of a pair, also in keys; the same object if there is none. */
export const wellFormed = (value: Json): Json => (isWellFormed(value) ? value : repaired(value));

/** Creates nothing: almost all values are well formed, and some have hundreds of thousands of parts. */
function isWellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (Array.isArray(value)) return (value as readonly Json[]).every(isWellFormed);
  if (!isJsonObject(value)) return true;
  return Object.keys(value).every((key) => key.isWellFormed() && isWellFormed(value[key] as Json));
}

function repaired(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return (value as readonly Json[]).map(repaired);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), repaired(item)]));
}

/**
 * '2026-11-21 09:36:02Z': the one way in which sentences, tables and logs write an instant; the page
 * puts it into its reader's zone.
 */
export const timeText = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;

/** Clocks that are right differ by less. */
export const CLOCKS_DIFFER_MS = 5_000;

/**
 * A past instant, and how long ago it was: '2026-11-21 09:36:02Z (3 min)'. Never in the reader's future, even
 * if the clock that wrote it was ahead.
 * @param now by the clock of the system that it is read from
 * @param aheadMs how far that clock is ahead of its machine's
 */
export function pastText(at: number, now: number, aheadMs: number = 0): string {
  const isOfLater = at > now + CLOCKS_DIFFER_MS;
  const readerNow = now - aheadMs;
  const text = timeText(at <= readerNow ? at : Math.min(at - aheadMs, readerNow));
  if (isOfLater) return `${text} at the latest, written by a clock that was ${durationText(at - now)} ahead`;
  const note = at > readerNow + CLOCKS_DIFFER_MS ? `, by a clock that is ${durationText(aheadMs)} ahead` : '';
  return `${text} (${durationText(now - at)}${note})`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/**
 * Prints a number that was counted up to a limit: '7', or '≥ 10,000' if there are more. 'At least 0' means
 * unknown: '–'.
 */
export function countText(count: number, atLeast?: true): string {
  if (atLeast !== true) return count.toLocaleString('en');
  return count === 0 ? '–' : `≥ ${count.toLocaleString('en')}`;
}

/**
 * A duration in its two largest units: '850 ms', '1.2 s', '2 min 5 s', '1 h'. Between two differing clocks a
 * duration may be negative: then it counts as zero.
 */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(Math.max(0, ms))} ms`;
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
