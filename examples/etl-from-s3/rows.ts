/**
 * Parses a line of a file into a row.
 *
 * Owns: which lines are valid. Does not own: reading lines and storing rows (`agents/`). Pure.
 */

import { PermanentError } from 'steadfast';
import * as z from 'zod/mini';

const Text = z.string().check(z.minLength(1));

/** A line as a till writes it: money as text. */
export const Line = z.object({
  receipt: Text,
  till: Text,
  amount: z.string().check(z.regex(/^-?\d{1,9}\.\d\d$/)),
  soldAt: z.iso.datetime({ offset: true }),
});
export type Line = z.infer<typeof Line>;

/** A row as the warehouse stores it: whole cents, the day in UTC. */
export const Row = z.object({ receipt: Text, till: Text, cents: z.int(), day: z.iso.date() });
export type Row = z.infer<typeof Row>;

/**
 * @param number the line's number in its file, from 1
 * @throws PermanentError that names the line but quotes nothing from it
 */
export function rowOf(text: string, number: number): Row {
  const { data: line, success } = z.safeParse(Line, parsed(text));
  if (!success) throw new PermanentError(`line ${number} is no sale`);
  const { receipt, till, amount, soldAt } = line;
  return {
    receipt,
    till,
    cents: Number(amount.replace('.', '')),
    day: new Date(soldAt).toISOString().slice(0, 10),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Serializes rows for the warehouse. */
export const written = (rows: readonly Row[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');
export const read = (text: string): Row[] => linesOf(text).map((line) => z.parse(Row, JSON.parse(line)));

/** The lines of a text in memory; the last one may lack a line break. */
export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
