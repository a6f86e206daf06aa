/**
 * A rate as people write it: `50/s`, `30/min`.
 *
 * Owns: which rates are allowed. Does not own: the calls that a rate limits (`records/slots.ts`).
 */

import { refuse } from './errors.ts';

/**
 * The highest rate. An agent's record takes some ten writes a second, and each write gives a process a share
 * of a second.
 */
export const MOST_A_SECOND = 500;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60 };

function readRate(rate: string): number {
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,5})\/(s|min)$/.exec(rate) ?? [];
  return Number(count) / (UNIT_SECONDS[unit] ?? Number.NaN);
}

/** Why a text is not a rate, and what is allowed; undefined if it is one. */
export function rateProblem(rate: string): string | undefined {
  const perSecond = readRate(rate);
  if (Number.isNaN(perSecond)) return `'${rate}' is not a rate; write it like '50/s' or '30/min'`;
  return perSecond > MOST_A_SECOND
    ? `the rate '${rate}' is too high; at most ${MOST_A_SECOND}/s is allowed`
    : undefined;
}

/** Claims a second. @throws SteadfastError `bad-rate` */
export function perSecondOf(rate: string): number {
  const problem = rateProblem(rate);
  if (problem !== undefined) throw refuse('bad-rate', problem);
  return readRate(rate);
}
