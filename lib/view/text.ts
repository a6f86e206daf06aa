/** Tables, times and durations as text for people, and the parser of the times that people type. */

import {
  type Caller,
  callerText,
  countText,
  durationText,
  pastText,
  printable,
  printableLines,
  timeText,
} from '../api/answers.ts';

export { countText, durationText, pastText, printable, printableLines, timeText };

export type Cells = readonly string[];

/** A table: columns as wide as their longest cell, two blanks between them, none at the end of a line. */
export function table(head: Cells, rows: readonly Cells[]): string {
  // A cell is one line: other parties' text must not begin a line of its own.
  const all = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

export type Columns<Item> = readonly (readonly [head: string, textOf: (item: Item) => string])[];

/** Prints a table of items, without the columns that are empty in every row. */
export function tableOf<Item>(columns: Columns<Item>, items: readonly Item[]): string {
  const shown = columns.filter(([, textOf]) => items.some((item) => textOf(item) !== ''));
  const rows = items.map((item) => shown.map(([, textOf]) => textOf(item)));
  return table(
    shown.map(([head]) => head),
    rows,
  );
}

export type Fact = readonly [name: string, text: string];

/** Prints a line for each fact, with the texts in one column. */
export function factLines(facts: readonly Fact[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, text]) => `${name.padEnd(width)}  ${text}\n`).join('');
}

/** Names the caller, such as ' by local:ann'; '' if it is unknown. */
export const byText = (by: Caller | undefined): string => (by === undefined ? '' : ` by ${callerText(by)}`);

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const ISO_TIME = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Parses an instant as people type it: '2h' (ago), '09:30' (the latest such time by this machine's clock,
 * which may be yesterday's), '2026-01-31', '2026-01-31T09:30Z', or epoch ms as the API writes them.
 * @returns NaN if the text is no instant
 */
export function instantOf(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (UNIT_MS[unit] ?? 0);
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours !== undefined) return latest(Number(hours), Number(minutes), now);
  if (/^\d{12,15}$/.test(text)) return Number(text);
  // `Date` would read the 30th of February as the 2nd of March.
  const isTime =
    ISO_TIME.test(text) && new Date(Date.parse(text.slice(0, 10))).getUTCDate() === Number(text.slice(8, 10));
  return isTime ? Date.parse(text) : Number.NaN;
}

function latest(hours: number, minutes: number, now: number): number {
  const at = new Date(now);
  at.setHours(hours, minutes, 0, 0);
  if (at.getTime() > now) at.setDate(at.getDate() - 1);
  return at.getTime();
}
