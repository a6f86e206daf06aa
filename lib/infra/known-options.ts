/**
 * The refusal of settings that there are not: synthesis checks no types, and a misspelled one would be left
 * out.
 *
 * Does not own: which there are (tables beside their types, which the compiler holds equal to them).
 */

import { nearest } from '../core/values/nearest.ts';
import { type Keys, optionProblem } from '../core/values/options.ts';

/** @throws Error with the option that was probably meant */
export function checkOptions(of: string, options: unknown, keys: Keys): void {
  const found = optionProblem(options, keys);
  if (found !== undefined) throw new Error(`${of}: ${found}`);
}

/**
 * For props that are a stack's too, whose own differ by the version of the CDK: refuses what is like one of
 * ours.
 */
export function checkLikeOptions(of: string, options: object, known: readonly string[]): void {
  for (const key of Object.keys(options)) {
    const like = known.includes(key) ? undefined : nearest(key, known);
    if (like !== undefined) throw new Error(`${of}: '${key}' is not an option; did you mean '${like}'?`);
  }
}
