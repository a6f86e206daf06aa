/**
 * Jest's environment of a test file: the worker's own realm (`runtime.cjs`), and what is put back after the
 * file.
 *
 * jest-circus notes in a variable which test runs, and not in an async-local storage: on Node below 24
 * every promise of a process visits its storages, and ours are mostly promises. Tests run one after the
 * other, so a variable knows it as well.
 *
 * A file of `npm test` may start hardly any process (`suites/no-processes.mjs`).
 *
 * Apps of the CDK do not note where each of their resources was made: no test reads it, and each line of
 * such a trace would be found in a source map.
 *
 * An error notes as many calls as Node lets it, and not ten times as many as Jest would: most errors here are
 * thrown by simulated faults, and read by nobody.
 */

import asyncHooks from 'node:async_hooks';
import { refuseProcesses } from './suites/no-processes.mjs';

/** What jest-circus needs of an async-local storage. */
class OneAtATime {
  #store;

  getStore() {
    return this.#store;
  }

  async run(store, callback) {
    const before = this.#store;
    this.#store = store;
    try {
      return await callback();
    } finally {
      this.#store = before;
    }
  }
}

const { AsyncLocalStorage } = asyncHooks;

/** Node's default. */
const CALLS_AN_ERROR = 10;

/** Not assigned: since Node 22 it is a getter. */
const offer = (value) =>
  Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { value, configurable: true, enumerable: true });

export default class {
  global = globalThis;
  // Jest asks for these, and no test does.
  moduleMocker = { restoreAllMocks: () => undefined };
  fakeTimers = null;
  fakeTimersModern = null;

  #path;
  // Jest has replaced neither yet.
  #before = {
    console: globalThis.console,
    exit: Object.getOwnPropertyDescriptor(process, 'exit'),
    env: { ...process.env },
  };
  // A test may put a copy in its place.
  #env = process.env;
  #allowProcesses = () => undefined;

  constructor(_, { testPath }) {
    this.#path = testPath;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** There is none of its own. */
  getVmContext() {
    return null;
  }

  async setup() {
    // Not Jest's, which finds in source maps where each line was written.
    globalThis.console = this.#before.console;
    this.#allowProcesses = refuseProcesses(this.#path);
    process.env.CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:disable-creation-stack-traces': true });
    offer(OneAtATime);
  }

  async teardown() {
    const { exit, env } = this.#before;
    this.#allowProcesses();
    Object.defineProperty(process, 'exit', exit);
    process.env = this.#env;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  }

  handleTestEvent({ name, error }) {
    // Jest hides such calls, among them the test's own.
    if (typeof error?.stack === 'string') error.stack = error.stack.replaceAll(' <anonymous> (', ' test (');
    // The first event: jest-circus is loaded, and no test file yet.
    if (name !== 'setup') return;
    offer(AsyncLocalStorage);
    Error.stackTraceLimit = CALLS_AN_ERROR;
    // Jest's own would search maps among what it has transformed.
    delete Error.prepareStackTrace;
    process.setSourceMapsEnabled(true);
  }
}
