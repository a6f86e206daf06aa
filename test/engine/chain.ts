/** A workflow of two steps: the first is retried, and the second may ask a person. */

import { TransientError } from '../../lib/core/values/errors.ts';
import { askPerson, retry, workflow } from '../../lib/author/builder/workflow.ts';
import { anAgent, anyObject, type Harness, harness } from './harness.ts';

const first = anAgent('first', { timeout: '40s', lease: '40s' });
const second = anAgent('second', { effect: 'probed' });
export const chain = workflow('chain', { input: anyObject, within: '1h' }, (w) => {
  const a = w.step('a', first, {}, { recovery: [retry(3, { delay: '10s', maxDelay: '10s' })] });
  w.step('b', second, {}, { after: [a], recovery: [askPerson({ within: '1h' })] });
});
export const undo = async (): Promise<void> => undefined;
/** Makes an `execute` whose first call fails with an error that is worth a retry. */
export function failingOnce(): () => Promise<object> {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries === 1) throw new TransientError('503');
    return {};
  };
}

/** A harness whose agents finish at once. */
export const quick = (): Harness =>
  harness(chain, {
    first: { execute: async () => ({}), undo },
    second: { execute: async () => ({}), undo, probe: async () => ({ verdict: 'not-done' }) },
  });
