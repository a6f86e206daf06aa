/**
 * Writes the report of a run as JSON and Markdown, for a person to sign.
 *
 * Owns: its format, and removing account numbers and request ids. Does not own: the results.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AREAS, isCheck } from './check.ts';
import type { Result } from './run.ts';

export interface Subject {
  /** The deployment, for example `stack Steadfast-verify` or `the local cloud`. */
  readonly deployment: string;
  readonly region: string;
  readonly version: string;
  readonly beganAt: number;
  readonly endedAt: number;
}

export function countsOf(results: readonly Result[]) {
  const count = (wanted: Result['outcome']): number =>
    results.filter(({ outcome }) => outcome === wanted).length;
  return { rows: results.length, held: count('held'), failed: count('failed'), notRun: count('not run') };
}

/** Removes account numbers, request ids, UUIDs, keys, and personal names in principals. */
export const redacted = (text: string): string =>
  text
    .replaceAll(/(request[-_ ]?id[\\"]*\s*[:=]\s*[\\"]*)[\w+/=-]+/gi, '$1<id>')
    .replaceAll(/(:(?:federated-)?user\/)[^\s"\\',;)]+/g, '$1<name>')
    .replaceAll(/(:assumed-role\/[^\s/]+\/)[^\s"\\',;)]+/g, '$1<session>')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<id>')
    .replaceAll(/\b\d{12}\b/g, '<account>')
    .replaceAll(/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, '<key>');

export function jsonReport(results: readonly Result[], subject: Subject): string {
  const rows = results.map(({ entry, ...found }) => ({
    id: entry.id,
    row: entry.row,
    ...(isCheck(entry) ? { expected: entry.expected } : {}),
    ...found,
  }));
  return `${redacted(JSON.stringify({ verify: countsOf(results), subject, rows }, null, 2))}\n`;
}

export function markdownReport(results: readonly Result[], subject: Subject): string {
  const { rows, held, failed, notRun } = countsOf(results);
  const { deployment, region, version, beganAt, endedAt } = subject;
  const seconds = Math.round((endedAt - beganAt) / 1_000);
  const head = [
    `# Verified: ${deployment}`,
    '',
    `Steadfast ${version}, ${region}, ${new Date(beganAt).toISOString()}, ${seconds} s.`,
    `Of ${rows} rows ${held} held, ${failed} failed, ${notRun} were not run.`,
  ];
  const areas = AREAS.flatMap((area) => {
    const own = results.filter(({ entry }) => entry.area === area);
    return own.length === 0 ? [] : ['', `## ${area}`, '', ...TABLE_HEAD, ...own.map(tableRow)];
  });
  return `${redacted([...head, ...areas].join('\n'))}\n`;
}

const TABLE_HEAD = ['| outcome | row | expected | evidence, or why not |', '| --- | --- | --- | --- |'];
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');
const tableRow = ({ entry, outcome, evidence }: Result): string =>
  `| ${[outcome, entry.row, isCheck(entry) ? entry.expected : '', evidence].map(cell).join(' | ')} |`;

/** Writes both files. @returns their paths */
export function writeReport(folder: string, results: readonly Result[], subject: Subject): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const files = { 'verify.json': jsonReport, 'verify.md': markdownReport };
  return Object.entries(files).map(([name, print]) => {
    const path = join(folder, name);
    writeFileSync(path, print(results, subject));
    return path;
  });
}
