/**
 * Checks the text of a JSON document before it is parsed.
 *
 * Owns: finding out if it has more values, or more different keys, than allowed: parsing millions takes
 * longer than refusing them. Does not own: the limits, checking parsed values (`json.ts`).
 *
 * Both checks read the text once, character by character, and stop as soon as there are too many. A distinct
 * key costs a parser, a copy and a sort about twenty times as much as an item of a list.
 */

/** The index after the closing quote of the string that begins there. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

const EMPTY = /\s*[\]}]/y;

/** True if it has more values, on all levels together. */
export function hasMoreValues(text: string, than: number): boolean {
  // Each value takes at least two characters: its own and a separator.
  if (text.length / 2 < than) return false;
  let values = 1;
  for (let at = 0; at < text.length && values <= than; ) {
    const char = text[at] ?? '';
    if (char === '"') {
      at = endOfString(text, at);
      continue;
    }
    at += 1;
    if (char === ',') values += 1;
    else if (char === '[' || char === '{') {
      EMPTY.lastIndex = at;
      if (!EMPTY.test(text)) values += 1;
    }
  }
  return values > than;
}

const COLON_NEXT = /\s*:/y;

/** True if it has more different keys, as written, in all its objects together. */
export function hasMoreKeys(text: string, than: number): boolean {
  // A key takes two quotes, a colon, a value and a comma.
  if (text.length / 5 < than) return false;
  const keys = new Set<string>();
  for (let at = text.indexOf('"'); at !== -1 && keys.size <= than; ) {
    const end = endOfString(text, at);
    COLON_NEXT.lastIndex = end;
    if (COLON_NEXT.test(text)) keys.add(text.slice(at, end));
    at = text.indexOf('"', end);
  }
  return keys.size > than;
}
