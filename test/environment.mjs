/**
 * Jest's environment for Node, with what keeps `npm test` fast.
 *
 * jest-circus notes in a variable which test runs, and not in an async-local storage: on Node below 24
 * every promise of a process visits its storages, and ours are mostly promises. Tests run one after the
 * other, so a variable knows it as well.
 *
 * Large packages are loaded outside (`outside.mjs`). A file of `npm test` may start hardly any
 * process (`suites/no-processes.mjs`).
 *
 * Apps of the CDK do not note where each of their resources was made: no test reads it, and Jest finds each
 * line of such a trace in a source map.
 *
 * An error notes as many calls as Node lets it, and not ten times as many as Jest would: most errors here are
 * thrown by simulated faults, and read by nobody.
 */

import asyncHooks from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';
import { load, OUTSIDE } from './outside.mjs';
import { refuseProcesses, withoutCdk } from './suites/no-processes.mjs';

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

/** As Node has it where nobody says otherwise. */
const CALLS_AN_ERROR = 10;

/** Not assigned: since Node 22 it is a getter. */
const offer = (value) =>
  Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { value, configurable: true, enumerable: true });

export default class extends TestEnvironment {
  #path;
  #allowProcesses = () => undefined;

  constructor(config, context) {
    super(config, context);
    this.#path = context.testPath;
  }

  async setup() {
    await super.setup();
    this.global[Symbol.for(OUTSIDE)] = withoutCdk(this.#path, load);
    this.#allowProcesses = refuseProcesses(this.#path);
    process.env.CDK_CONTEXT_JSON = JSON.stringify({ 'aws:cdk:disable-creation-stack-traces': true });
    offer(OneAtATime);
  }

  async teardown() {
    this.#allowProcesses();
    await super.teardown();
  }

  // Its first event: jest-circus is loaded, and no test file yet.
  handleTestEvent({ name }) {
    if (name !== 'setup') return;
    offer(AsyncLocalStorage);
    this.global.Error.stackTraceLimit = Error.stackTraceLimit = CALLS_AN_ERROR;
  }
}
