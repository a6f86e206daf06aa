/**
 * Orders the test files: first those that try many seeds, wait for real processes or synthesise stacks, then
 * the others in Jest's order. Jest orders by earlier durations, but a new checkout has none: the longest
 * files could begin last, so that one worker would run alone at the end.
 */

import Sequencer from '@jest/test-sequencer';

/** The longest files, by parts of their paths, the longest first. */
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
