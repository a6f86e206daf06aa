/**
 * The order of the test files: first those that try many seeds, wait for real processes or synthesise stacks,
 * then the others in jest's order.
 *
 * Jest orders by what a file took the last time, and a new checkout has no last time: the longest would begin
 * at the end, and one worker would go on alone.
 */

import Sequencer from '@jest/test-sequencer';

/** By parts of their paths, the longest first. */
const LONG = [
  '/test/proof/simulation/seeds',
  '/test/e2e/restore',
  '/test/e2e/permissions',
  '/test/serve/bad-agents',
  '/test/serve/serve.processes',
  '/test/e2e/',
  '/examples/etl-from-s3/',
  '/test/contract/store',
  '.processes.test',
  '/test/proof/',
  '/test/kit/',
  '/test/infra/',
  '/examples/',
  '/test/docs-',
];
const placeOf = ({ path }) => {
  const place = LONG.findIndex((part) => path.replaceAll('\\', '/').includes(part));
  return place < 0 ? LONG.length : place;
};

export default class extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
