/**
 * A day's files as tills write them, and the rows that they must become.
 *
 * Owns: which rows are right: they are made first, and the files from them. Does not own: how
 * files become rows (`rows.ts`).
 */

import type { Line, Row } from './rows.ts';

export interface Sample {
  readonly key: string;
  readonly text: string;
  /** A bad file has none. */
  readonly rows: readonly Row[];
}

const DAY = '2026-03-01';

/**
 * @param number from 0; it decides all that is in the file
 * @param isBad whether its last line breaks off, as that of a till does that was switched off
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

/** What names the files, one in a line. */
export const manifestOf = (files: readonly Sample[]): string => files.map(({ key }) => `${key}\n`).join('');

/** As the warehouse sorts them. */
export const sorted = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((one, other) => (one.receipt < other.receipt ? -1 : one.receipt > other.receipt ? 1 : 0));
