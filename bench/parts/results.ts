/**
 * Where a benchmark stores its results for the report: `bench/results/<name>.json`.
 *
 * Owns: the files, and keeping the results that a partial run did not measure again. Does not own: their
 * content.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', 'results');
const fileOf = (name: string): string => join(FOLDER, `${name}.json`);

export const resultOf = (name: string): unknown =>
  existsSync(fileOf(name)) ? JSON.parse(readFileSync(fileOf(name), 'utf8')) : undefined;

export const keep = (name: string, result: object): void =>
  writeFileSync(fileOf(name), `${JSON.stringify(result)}\n`);

/** Keeps the order of the old items, replaces each by its new one, and appends those that are new. */
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
