/**
 * The verdicts on the figures.
 *
 * Owns: the verdict on one figure and how it is shown. Does not own: the limits (each benchmark's own).
 */

import { table } from './print.ts';

export interface Verdict {
  readonly what: string;
  readonly unit: string;
  readonly limit: number;
  readonly measured: number;
  /** Whether more is better, so that the limit is a minimum. */
  readonly atLeast?: true;
  readonly met: boolean;
}

export const atMost = (what: string, unit: string, limit: number, measured: number): Verdict => ({
  what,
  unit,
  limit,
  measured,
  met: measured <= limit,
});

export const atLeast = (what: string, unit: string, limit: number, measured: number): Verdict => ({
  what,
  unit,
  limit,
  measured,
  atLeast: true,
  met: measured >= limit,
});

const figure = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(value < 0.1 ? 3 : 2);

/** Name, limit, measured, verdict. */
export const cellsOf = ({ what, unit, limit, measured, atLeast: least, met }: Verdict): string[] => [
  what,
  `${least === true ? '≥' : '≤'} ${figure(limit)} ${unit}`,
  figure(measured),
  met ? 'met' : 'missed',
];

export const printVerdicts = (verdicts: readonly Verdict[]): void => {
  if (verdicts.length > 0)
    console.log(`\n${table(['judged', 'limit', 'measured', 'met?'], verdicts.map(cellsOf))}`);
};

/** The largest value divided by the smallest: 1 if a series is constant. */
export function spread(values: readonly number[]): number {
  return values.length === 0 ? 1 : Math.max(...values) / Math.min(...values);
}
