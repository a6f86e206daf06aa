/** A schema with mistakes that nobody catches, and a workflow that has none. */

import { createConnection } from 'node:net';
import * as z from 'zod/mini';
import { agent, workflow } from 'steadfast';

const mistakes: Readonly<Record<string, () => unknown>> = {
  'forgets an await': () => Promise.reject(new Error('nobody awaits me')),
  'throws in a timer': () =>
    setTimeout(() => {
      throw new Error('thrown later');
    }),
  'rejects with a text': () => Promise.reject('a text' as never),
  'opens a connection that breaks': () => createConnection(1, '127.0.0.1'),
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
