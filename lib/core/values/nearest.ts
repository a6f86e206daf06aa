/**
 * The name that was probably meant: the one that needs the fewest changed, added or omitted letters, if they
 * are few.
 */

/** @returns undefined if none is near: two letters of five may differ, one of three */
export function nearest(word: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let most = Math.floor(word.length * 0.4);
  for (const name of names) {
    const count = changes(word, name);
    if (count > most || (best !== undefined && count === most)) continue;
    best = name;
    most = count;
  }
  return best;
}

/** Levenshtein's distance, one row of the table at a time. */
function changes(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [at, letter] of from.split('').entries()) {
    const next = [at + 1];
    for (const [place, other] of to.split('').entries()) {
      const same = (row[place] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(same, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
