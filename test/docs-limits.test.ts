/** Each number in docs/LIMITS.md equals the value at its place in the code. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMIT_PLACES } from './snippets/limit-places.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
const page = read('docs/LIMITS.md');
const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
/** The rows of the page's tables: what is limited, and the limit. */
const limits = new Map(
  [...page.matchAll(/^\| (?!what \||---)(.*) \|$/gm)].map(([, cells = '']): [string, string] => {
    const [what = '', limit = ''] = cells.split(' | ');
    return [plain(what), limit];
  }),
);
const rows = LIMIT_PLACES.map(([what, file, code]) => ({ what, limit: limits.get(what) ?? '', file, code }));

const UNITS: Readonly<Record<string, number>> = {
  KiB: 1_024,
  KB: 1_000,
  s: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** '256 KiB' in bytes, '2 days' in ms, '20' unchanged. */
function figureOf(limit: string): number {
  const [, digits = '', unit = ''] = /^([\d,]+) ?([A-Za-z]*)/.exec(limit) ?? [];
  return Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? UNITS[unit.replace(/s$/, '')] ?? 1);
}

/**
 * The value of the last product of numbers in a piece of code; for a pattern's repetition one more, for the
 * character before it.
 */
function valueOf(code: string): number {
  const [, repeated] = /\{0,(\d+)\}/.exec(code) ?? [];
  if (repeated !== undefined) return Number(repeated) + 1;
  const product = /(\d[\d_]*(?: \* \d[\d_]*)*)\D*$/.exec(code)?.[1] ?? '';
  const value = product.split(' * ').reduce((all, each) => all * Number(each.replaceAll('_', '')), 1);
  return code.includes('Duration.days') ? value * 86_400_000 : value;
}

it('is a table of limits, and the code has a place for each of them', () => {
  expect(rows.length).toBeGreaterThan(35);
  const places = LIMIT_PLACES.map(([what]) => what);
  expect([...limits.keys()].filter((what) => !places.includes(what))).toEqual([]);
  expect(places.filter((what) => !limits.has(what))).toEqual([]);
  expect(limits.size).toBe(page.match(/^\| (?!what \||---)/gm)?.length);
});

it.each(rows)('$what: $limit', ({ limit, file, code }) => {
  expect(read(file)).toContain(code);
  expect(valueOf(code)).toBe(figureOf(limit));
});

it('would notice another figure', () => {
  expect(['256 KiB', '10,000', '2 days', '25 s', '5 levels'].map(figureOf)).toEqual([
    262_144, 10_000, 172_800_000, 25_000, 5,
  ]);
  expect(['A = 256 * 1024', 'nodes: 60_000', '[a-z]{0,47}', 'Duration.days(2)'].map(valueOf)).toEqual([
    262_144, 60_000, 48, 172_800_000,
  ]);
});
