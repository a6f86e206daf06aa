/**
 * Refuses settings that do not exist. Synthesis checks no types, so a misspelled one would be ignored.
 *
 * Does not own: which settings exist (tables beside their types, which the compiler keeps equal to them).
 */

import { nearest } from '../core/values/nearest.ts';
import { type Keys, optionProblem } from '../core/values/options.ts';

/** @throws Error with the option that was probably meant */
export function checkOptions(of: string, options: unknown, keys: Keys): void {
  const found = optionProblem(options, keys);
  if (found !== undefined) throw new Error(`${of}: ${found}`);
}

/**
 * Refuses a misspelling of our settings only: which others the props of a stack have depends on the CDK's
 * version.
 */
export function checkLikeOptions(of: string, options: object, known: readonly string[]): void {
  for (const key of Object.keys(options)) {
    const like = known.includes(key) ? undefined : nearest(key, known);
    if (like !== undefined) throw new Error(`${of}: '${key}' is not an option; did you mean '${like}'?`);
  }
}
