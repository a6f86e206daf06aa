/**
 * Generates a day's files as tills write them, and the rows that they must become.
 *
 * Owns: the expected rows: it makes them first, and then the files from them. Does not own: parsing files
 * into rows (`rows.ts`).
 */

import type { Line, Row } from './rows.ts';

export interface Sample {
  readonly key: string;
  readonly text: string;
  /** Empty for a bad file. */
  readonly rows: readonly Row[];
}

const DAY = '2026-03-01';

/**
 * @param number from 0; it determines the whole content of the file
 * @param isBad whether its last line breaks off, like that of a till that was switched off
 */
export function sampleFile(number: number, lines: number, isBad = false): Sample {
  const till = `till-${number}`;
  const rows: Row[] = Array.from({ length: lines }, (_, at) => ({
    receipt: `${till}-${at}`,
    till,
    cents: at % 10 === 9 ? -(at * 7 + 5) : number * 1_000 + at * 99,
    day: DAY,
  }));
  const text = rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join('');
  const key = `incoming/${DAY}/${till}.jsonl`;
  return isBad ? { key, text: text.slice(0, -20), rows: [] } : { key, text, rows };
}

function lineOf({ receipt, till, cents, day }: Row): Line {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const amount = `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  return { receipt, till, amount, soldAt: `${day}T12:00:00+01:00` };
}

/** The manifest's content: the files' keys, one per line. */
export const manifestOf = (files: readonly Sample[]): string => files.map(({ key }) => `${key}\n`).join('');

/** The rows in the warehouse's order. */
export const sorted = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((one, other) => (one.receipt < other.receipt ? -1 : one.receipt > other.receipt ? 1 : 0));
