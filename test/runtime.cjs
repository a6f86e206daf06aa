/**
 * Replaces Jest's module runtime: test files and their imports are loaded by Node as ES modules, with tsx, in
 * the worker's realm. Jest's runtime would compile every module anew for every test file, in a slower V8
 * context: half of the processor time of `npm test`. The price: all files of a worker share the modules under
 * test. A module of `test/` that others import has no hooks and no tests of its own, since it is evaluated
 * once for all of them (`suites/suites.test.ts`). No test mocks a module. Jest's watch mode would test old
 * code.
 *
 * CommonJS: Jest loads a runtime by `require`.
 */

const { register } = require('node:module');
const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

const HANDLERS = Symbol.for('EVENT_HANDLERS');

let registered;

module.exports = class extends Runtime {
  /** Loads the test runner anew for each file, because it stores that file's tests and handlers. */
  requireInternalModule(path) {
    delete globalThis[HANDLERS];
    delete require.cache[path];
    return require(path);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    registered ??= import('tsx').then(() => register('./transform.mjs', pathToFileURL(__filename)));
    await registered;
    await import(pathToFileURL(path).href);
  }
};
