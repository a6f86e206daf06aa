/**
 * Assigns each test file, by its path alone, to one suite: `npm test` runs `logic`, `npm run test:processes`
 * runs `processes`, `npm run test:nightly` runs `nightly`, and plain Jest runs all.
 *
 * CommonJS: Jest loads a filter by `require`.
 */

const path = require('node:path');

const ROOT = `${__dirname}/../..`;

/** Folders whose files all belong to the suite `processes`. */
const FOLDERS = ['test/e2e/', 'test/infra/'];
/** The console's tests; they have their own Jest configuration (npm run test:browser). */
const BROWSER = 'test/browser/';
/** The ending of files of the suite `processes` in other folders. */
const ENDING = '.processes.test.ts';
/**
 * The ending of files that are too slow for every commit (`.ci/nightly` runs them). The file with the same
 * name tests the same with fewer cases.
 */
const NIGHTLY = '.nightly.test.ts';
/** The only end-to-end test of `logic`: each role is killed, and all executions resume. */
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
 * Makes a filter for Jest. If only files of other suites are named, they run: `npm test -- <file>` runs any
 * file.
 *
 * @param {'logic' | 'processes' | 'nightly'} suite
 */
const only = (suite) => async (paths) => {
  const own = paths.filter((name) => suiteOf(name) === suite);
  return { filtered: own.length > 0 ? own : paths };
};

module.exports = { ENDING, END_TO_END, FOLDERS, NIGHTLY, only, suiteOf };
