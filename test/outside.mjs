/**
 * Packages that all test files of a worker share: a transform of Jest's makes of a package's entry a
 * reference to the package outside of the realm of the tests, where Node loads it once. Inside, each file
 * would load all of aws-cdk-lib again.
 *
 * Only for packages whose state no test depends on, and that take values of another realm.
 */

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

/** By which name a realm of tests has `load`. */
export const OUTSIDE = 'steadfast:outside';
export const load = createRequire(import.meta.url);

function referenceTo(filename) {
  const names = Object.keys(load(filename)).filter((name) => name !== 'default');
  return [
    `module.exports = globalThis[Symbol.for('${OUTSIDE}')](${JSON.stringify(filename)});`,
    // Not run, but read: what may be imported by name.
    `0 && (module.exports = { ${names.join(', ')} });`,
  ].join('\n');
}

/** @type {import('@jest/transform').SyncTransformer} */
export default {
  process: (_, filename) => ({ code: referenceTo(filename) }),
  // Not by the entry's text: what it passes on may be another with the next version.
  getCacheKey: (_, filename) => createHash('sha256').update(referenceTo(filename)).digest('hex'),
};
