/**
 * Where a benchmark leaves what it found, for the report: `bench/results/<name>.json`.
 *
 * Owns: the files, and keeping what a run of a part did not measure anew. Does not own: what is in them.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', 'results');
const fileOf = (name: string): string => join(FOLDER, `${name}.json`);

export const resultOf = (name: string): unknown =>
  existsSync(fileOf(name)) ? JSON.parse(readFileSync(fileOf(name), 'utf8')) : undefined;

export const keep = (name: string, result: object): void =>
  writeFileSync(fileOf(name), `${JSON.stringify(result)}\n`);

/** In the order of the old ones, each replaced by its new one; then those that are new. */
export function replaced<Item>(
  old: readonly Item[],
  found: readonly Item[],
  keyOf: (item: Item) => string,
): Item[] {
  const rest = new Map(found.map((item) => [keyOf(item), item]));
  const kept = old.map((item) => {
    const next = rest.get(keyOf(item)) ?? item;
    rest.delete(keyOf(item));
    return next;
  });
  return [...kept, ...rest.values()];
}
