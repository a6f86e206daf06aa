/**
 * Jest's environment for Node, which also ends the async-local storages that a test file has entered.
 *
 * jest-circus has one for each test file and never disables it. On Node below 24 every promise of the process then visits
 * every storage of every file that the worker has run before: the last files of a run took up to five times as long.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** @type {Set<AsyncLocalStorage<unknown>>} */
const entered = new Set();

const { prototype } = AsyncLocalStorage;
for (const name of /** @type {const} */ (['run', 'enterWith'])) {
  const enter = Reflect.get(prototype, name);
  Reflect.set(prototype, name, function entering(...args) {
    entered.add(this);
    return Reflect.apply(enter, this, args);
  });
}

export default class extends TestEnvironment {
  async teardown() {
    await super.teardown();
    for (const storage of entered) storage.disable();
    entered.clear();
  }
}
