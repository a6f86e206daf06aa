/**
 * The last line of `npm test` names the tests that it left out and the command for them. If files are named,
 * all of them run.
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');

/** Runs a suite. @returns its last line */
function lastLineOf(suite: string, ...args: readonly string[]): string {
  const filter = ['--filter', `./test/suites/${suite}.cjs`, '--testNamePattern', 'is given to no test'];
  const { stderr } = spawnSync(process.execPath, [JEST, '-i', ...filter, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return stderr.trim().split('\n').at(-1) ?? '';
}

test('npm test says what it left out, at its very end', () => {
  const last = lastLineOf('logic', '--testPathPatterns', 'test/time-limits');
  expect(last).toMatch(
    /^Left out: .*npm run test:processes.*npm run test:browser.*npm run test:nightly.*\.ci\/run\.$/,
  );
});

test.each([
  ['processes', /^Left out: what npm test runs.*npm run test:nightly/],
  ['nightly', /^Left out: what each commit runs \(\.ci\/run\)\.$/],
])('so does npm run test:%s', (suite, last) => {
  expect(lastLineOf(suite, '--testPathPatterns', 'test/time-limits')).toMatch(last);
});

test('neither does where files are named', () => {
  expect(lastLineOf('logic', 'test/time-limits.test.ts')).toMatch(/^Ran all test suites/);
});
