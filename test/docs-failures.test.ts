/** docs/FAILURES.md lists exactly the failure codes that the code uses. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAILURE_CODES } from '../scripts/contract/failure-codes.ts';

const ROOT = join(import.meta.dirname, '..');
/** Code that runs where a step or an execution fails. */
const ROOMS = ['core', 'engine', 'agent', 'worker', 'remote', 'ready'];
/** Finds failures written as objects, or made by a function of the same file. */
const CODE = /\bcode: '([a-z-]+)'|\b(?:wrong|failure)\(\s*'([a-z-]+)'|\b(?:CANNOT_TELL|BUG) = '([a-z-]+)'/g;
/** Codes that are composed at run time. */
const MADE = [
  'answer-too-large',
  'unsafe-number',
  'child-failed',
  'http-500',
  'broken-connection',
  'bad-answer',
];

const sources = ROOMS.flatMap((room) =>
  readdirSync(join(ROOT, 'lib', room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(ROOT, 'lib', room, name), 'utf8')),
);
const given = new Set(
  sources.flatMap((text) => [...text.matchAll(CODE)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')),
);
const rows = FAILURE_CODES.flatMap((codes) => codes.rows);
const said = rows.map(([code]) => code);

it('has a row for each code that the product gives', () => {
  expect(given.size).toBeGreaterThan(35);
  expect([...given].filter((code) => !said.includes(code))).toEqual([]);
});

it('has no row for a code that nothing gives, and no code twice', () => {
  expect(said.filter((code) => !given.has(code) && !MADE.includes(code))).toEqual([]);
  expect(
    MADE.filter((code) => !sources.some((text) => text.includes(code.replace(/(?<=-)(500|failed)$/, '')))),
  ).toEqual([]);
  expect(said.toSorted()).toEqual([...new Set(said)].toSorted());
});

it('says of each what happened and what to do', () => {
  expect(rows.filter(([, cause, cure]) => !/^[A-Z].*\.$/.test(cause) || !/^[A-Z].*\.$/.test(cure))).toEqual(
    [],
  );
});
