/**
 * Which test file belongs to which suite: `npm test` runs `logic`, `npm run test:processes` runs `processes`,
 * `npm run test:nightly` runs `nightly`, and plain Jest runs all. Each file is in exactly one of them, by its
 * path alone.
 *
 * CommonJS: Jest loads a filter by `require`.
 */

const path = require('node:path');

const ROOT = `${__dirname}/../..`;

/** All files below these. */
const FOLDERS = ['test/e2e/', 'test/infra/'];
/** The console's tests, with a Jest configuration of their own: npm run test:browser runs them. */
const BROWSER = 'test/browser/';
/** Elsewhere, a file says it by its name. */
const ENDING = '.processes.test.ts';
/** Too slow for every commit; what it shares its name with judges the same more thinly. `.ci/nightly` runs them. */
const NIGHTLY = '.nightly.test.ts';
/** Each role is killed, and all executions resume: the one end-to-end test of `logic`. */
const END_TO_END = 'test/e2e/kill-and-resume.test.ts';

/** @param {string} name absolute, or from the project's root */
function suiteOf(name) {
  const file = (path.isAbsolute(name) ? path.relative(ROOT, name) : name).replaceAll('\\', '/');
  if (file === END_TO_END) return 'logic';
  if (file.startsWith(BROWSER)) return 'browser';
  if (file.endsWith(NIGHTLY)) return 'nightly';
  return file.endsWith(ENDING) || FOLDERS.some((folder) => file.startsWith(folder)) ? 'processes' : 'logic';
}

/**
 * A filter for Jest. Where only files of other suites are named, they run:
 * `npm test -- <a file>` takes any file.
 *
 * @param {'logic' | 'processes' | 'nightly'} suite
 */
const only = (suite) => async (paths) => {
  const own = paths.filter((name) => suiteOf(name) === suite);
  return { filtered: own.length > 0 ? own : paths };
};

module.exports = { ENDING, END_TO_END, FOLDERS, NIGHTLY, only, suiteOf };
