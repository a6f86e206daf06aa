/**
 * Which test file belongs to which suite: `npm test` runs `logic`, `npm run test:processes` runs `processes`,
 * and plain Jest runs both. Each file is in exactly one of them, by its path alone.
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
/** Each role is killed, and all executions resume: the one end-to-end test of `logic`. */
const END_TO_END = 'test/e2e/kill-and-resume.test.ts';

/** @param {string} name absolute, or from the project's root */
function suiteOf(name) {
  const file = (path.isAbsolute(name) ? path.relative(ROOT, name) : name).replaceAll('\\', '/');
  if (file === END_TO_END) return 'logic';
  if (file.startsWith(BROWSER)) return 'browser';
  return file.endsWith(ENDING) || FOLDERS.some((folder) => file.startsWith(folder)) ? 'processes' : 'logic';
}

/**
 * A filter for Jest. Where only files of the other suite are named, they run:
 * `npm test -- <a file>` takes any file.
 *
 * @param {'logic' | 'processes'} suite
 */
const only = (suite) => async (paths) => {
  const own = paths.filter((name) => suiteOf(name) === suite);
  return { filtered: own.length > 0 ? own : paths };
};

module.exports = { ENDING, END_TO_END, FOLDERS, only, suiteOf };
