/**
 * The user's project on disk: its root folder, and the extensions of the files that authors write.
 *
 * Owns: both rules. Does not own: which files must exist (`infra/discover.ts`).
 */

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Finds the folder of the nearest cdk.json, searching upward from `from`. */
export function projectRoot(from: string): string | undefined {
  for (let at = resolve(from); ; at = dirname(at)) {
    if (existsSync(join(at, 'cdk.json'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

/** The extensions of files that authors write, in search order. */
const ENDINGS = ['.ts', '.mts', '.js', '.mjs'] as const;

/** Finds the file with any of the extensions. @param path without its extension */
export const writtenFile = (path: string): string | undefined =>
  ENDINGS.map((ending) => path + ending).find((file) => existsSync(file));
