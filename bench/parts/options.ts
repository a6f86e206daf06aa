/**
 * A count option of a benchmark. Zero is refused: a run that measures nothing would meet every limit.
 */

import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError unless it is an integer of at least 1 */
export function atLeastOne(text: string): number {
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a whole number is wanted, 1 or more.');
}
