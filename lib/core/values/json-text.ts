/**
 * A JSON text before it is parsed.
 *
 * Owns: where its strings end, and about how many values it has: parsing millions takes longer than
 * refusing them. Does not own: whether it is JSON.
 */

/** Behind the closing quote of the string that begins there. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

const EMPTY = /\s*[\]}]/y;

/** Whether it has more values, all levels together; never true where it has fewer. */
export function hasMoreValues(text: string, than: number): boolean {
  // A value takes a character, and what divides it from the next another.
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
