/**
 * The refusal of an option that there is not: a misspelled one would be left out in silence, in JavaScript.
 *
 * Does not own: which there are (tables beside their types, which the compiler holds equal to them).
 */

import { refuse } from '../lib/core/values/errors.ts';
import { type Keys, optionProblem } from '../lib/core/values/options.ts';

/** @throws SteadfastError `bad-option` */
export function checkOptions(of: string, options: unknown, keys: Keys): void {
  const found = optionProblem(options, keys);
  if (found !== undefined) throw refuse('bad-option', `${of}: ${found}`);
}
