/**
 * The order of the test files: first those that wait for real processes or try many seeds, then the others in jest's order.
 *
 * Jest orders by what a file took the last time, and a new checkout has no last time: the longest would begin at the end, and
 * one worker would go on alone.
 */

import Sequencer from '@jest/test-sequencer';

const LONG = ['/test/e2e/', '/test/proof/'];
const isLong = ({ path }) => LONG.some((folder) => path.replaceAll('\\', '/').includes(folder));

export default class extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
