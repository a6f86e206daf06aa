/** A schema with mistakes that nobody catches, and a workflow that has none. */

import { createConnection } from 'node:net';
import { performance } from 'node:perf_hooks';
import * as z from 'zod/mini';
import { agent, workflow } from 'steadfast';
import { createClient } from 'steadfast/client';

// Fails while other modules load, here and in the process of the agents.
void Promise.reject(new Error('nobody awaits the start'));
createConnection(1, '127.0.0.1');

const mistakes: Readonly<Record<string, () => unknown>> = {
  'forgets an await': () => Promise.reject(new Error('nobody awaits me')),
  'throws in a timer': () =>
    setTimeout(() => {
      throw new Error('thrown later');
    }),
  'rejects with a text': () => Promise.reject('a text' as never),
  'opens a connection that breaks': () => createConnection(1, '127.0.0.1'),
  throws: () => {
    throw new Error('thrown at once');
  },
  'blocks the loop': () => {
    for (const untilAt = performance.now() + 1_500; performance.now() < untilAt; );
  },
  'forgets to await a client': () => createClient({ url: 'http://127.0.0.1:1' }).why('x'),
};

const strayInput = z.object({
  mistake: z.string().check(
    z.refine((name) => {
      mistakes[name]?.();
      return true;
    }),
  ),
});

export const echo = agent('echo', {
  input: z.object({ mistake: z.string() }),
  output: z.object({}),
  effect: 'none',
});

export const stray = workflow('stray', { input: strayInput, within: '1h' }, (w) => {
  w.step('echo', echo, { mistake: w.input.mistake });
});
