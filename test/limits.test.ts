/**
 * The limits in CONTRIBUTING.md are those that linter, formatter and `tidy.test.ts` enforce, without
 * exceptions.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const numberIn = (path: string, pattern: RegExp): number => Number(pattern.exec(read(path))?.[1]);
const said = (pattern: RegExp): number => numberIn('CONTRIBUTING.md', pattern);

interface Lint {
  readonly rules: Readonly<Record<string, readonly [string, { readonly max: number }]>>;
}
const maxOf = (rule: string): number | undefined =>
  (JSON.parse(read('.oxlintrc.json')) as Lint).rules[rule]?.[1].max;

test('lines of a file', () => {
  const limit = said(/(\d+) lines of code a file/);
  expect(maxOf('eslint/max-lines')).toBe(limit);
  expect(numberIn('test/tidy.test.ts', /MAX_CODE_LINES = (\d+)/)).toBe(limit);
});

test('lines of a function', () => {
  expect(maxOf('eslint/max-lines-per-function')).toBe(said(/and (\d+) a function/));
});

test('lines of the first sitting', () => {
  const [sitting = ''] = /First sitting.*?Second sitting/s.exec(read('AGENTS.md')) ?? [];
  const paths = [...sitting.matchAll(/`(lib\/[^`]+\.ts)`/g)].map(([, path = '']) => path);
  expect(paths).toHaveLength(5);
  const lines = paths.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0);
  expect(lines).toBeLessThanOrEqual(said(/first sitting[^;]*? have at most (\d+) lines/));
});

test('columns of code', () => {
  expect(numberIn('biome.json', /"lineWidth": (\d+)/)).toBe(said(/wraps code at (\d+) columns/));
});

const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.mjs'], { cwd: ROOT });
const files = String(list)
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));

test('no file is excused', () => {
  expect(files.length).toBeGreaterThan(200);
  const notCharged = files.filter((path) =>
    /(?:eslint|oxlint)-disable[\w-]*\s[^\n]*max-lines/.test(read(path)),
  );
  expect(notCharged).toEqual([]);
});

/** File names that say nothing about the contents. */
const NAMELESS = /(?:^|[/-])(?:utils?|helpers?|managers?|common)\.[a-z]+$/;
test('no file is named after nothing', () => {
  expect(files.filter((path) => NAMELESS.test(path))).toEqual([]);
  expect(
    ['lib/core/plan/plan-utils.ts', 'common.ts', 'lib/manager.ts'].every((path) => NAMELESS.test(path)),
  ).toBe(true);
});
