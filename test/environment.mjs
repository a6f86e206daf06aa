/**
 * Jest's environment of a test file: runs it in the worker's realm (`runtime.cjs`), and restores global state
 * after the file. jest-circus records the running test in a variable instead of an async-local storage:
 * before Node 24, every promise visits such storages, and tests run one after the other anyway. A file of
 * `npm test` may start hardly any process (`suites/no-processes.mjs`). CDK apps record no stack traces of
 * their resources: no test reads them, and each line costs a source-map look-up. Errors have Node's number of
 * stack frames, not Jest's ten times as many, because most are thrown by simulated faults and never read.
 */

import asyncHooks from 'node:async_hooks';
import { refuseProcesses } from './suites/no-processes.mjs';

/** Replaces the async-local storage of jest-circus. */
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

/** Node's default number of stack frames. */
const CALLS_AN_ERROR = 10;

/** Defines the property, because since Node 22 it is a getter that cannot be assigned. */
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
