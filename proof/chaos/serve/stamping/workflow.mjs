/**
 * Three stamps, one after the other, by a service that stamps again whenever it is asked again: only a probe
 * keeps a lost answer from a second stamp. JavaScript, so that a server loads it without a compiler.
 */

import { agent, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const page = z.object({ page: z.string() });

export const stamp = agent('stamp', {
  input: page,
  output: page,
  effect: 'probed',
  undo: 'none',
  lease: '10s',
  timeout: '30s',
  lateEffectWithin: '1s',
});

export const stamping = workflow('stamping', { input: page, within: '1h' }, (w) => {
  const recovery = [retry(50, { delay: '100ms', maxDelay: '1s' })];
  const one = w.step('one', stamp, { page: w.input.page }, { recovery });
  const two = w.step('two', stamp, { page: one.output.page }, { recovery });
  return w.step('three', stamp, { page: two.output.page }, { recovery }).output;
});
