/**
 * How many parts a value has.
 *
 * Owns: counting them no further than asked. Does not own: the limits (`json.ts`), counting in a text
 * (`json-text.ts`).
 */

/** True if it has more keys and elements than `most`, all levels together; of a circle each turn counts. */
export function hasMoreParts(root: unknown, most: number): boolean {
  const rest = [root];
  let parts = 0;
  for (let value = rest.pop(); parts <= most; value = rest.pop()) {
    if (typeof value === 'object' && value !== null) {
      const list = Array.isArray(value) ? (value as readonly unknown[]) : undefined;
      parts += (list ?? Object.keys(value)).length;
      if (parts > most) return true;
      const items = list ?? Object.values(value);
      for (const item of items) if (typeof item === 'object' && item !== null) rest.push(item);
    }
    if (rest.length === 0) return false;
  }
  return true;
}
