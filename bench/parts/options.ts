/**
 * How many, of an option of a benchmark: none of anything would be measured as nothing, and
 * nothing is within every limit.
 */

import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError unless it is a whole number from 1 on */
export function atLeastOne(text: string): number {
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a whole number is wanted, 1 or more.');
}
