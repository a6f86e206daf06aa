/**
 * The user's project on disk: where it begins, and which endings the files have that authors write.
 *
 * Owns: both rules. Does not own: which files there must be (`infra/discover.ts`).
 */

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The folder of the nearest cdk.json, from there upward. */
export function projectRoot(from: string): string | undefined {
  for (let at = resolve(from); ; at = dirname(at)) {
    if (existsSync(join(at, 'cdk.json'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

/** The endings of files that authors write, in the order in which they are looked for. */
const ENDINGS = ['.ts', '.mts', '.js', '.mjs'] as const;

/** The file under any of the endings. @param path without its ending */
export const writtenFile = (path: string): string | undefined =>
  ENDINGS.map((ending) => path + ending).find((file) => existsSync(file));
