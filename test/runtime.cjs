/**
 * Jest's module runtime, replaced: test files and what they import are Node's own ES modules, by tsx, in the
 * realm of the worker. Jest's would load and compile every module anew for every test file, in a context of
 * V8 that is slower at everything: half of the processor time of `npm test`.
 *
 * The price: the files of a worker share the modules under test, as the requests of a process do. A module
 * of `test/` that others import has no hooks and no tests of its own, since it is evaluated once for all of
 * them (`suites/suites.test.ts`). No test mocks a module. Jest's watch mode would test old code.
 *
 * CommonJS: Jest loads a runtime by `require`.
 */

const { register } = require('node:module');
const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

const HANDLERS = Symbol.for('EVENT_HANDLERS');

let registered;

module.exports = class extends Runtime {
  /** What runs the tests of one file: anew for each, because it keeps that file's tests and handlers. */
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
