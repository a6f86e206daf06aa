/** Two steps, one after the other, whose agents need nothing outside. */

import * as z from 'zod/mini';
import { agent, workflow } from 'steadfast';

const named = z.object({ name: z.string() });

export const writeGreeting = agent('write-greeting', {
  input: named,
  output: z.object({ text: z.string() }),
  effect: 'none',
  lease: '5s',
});

export const sendGreeting = agent('send-greeting', {
  input: z.object({ text: z.string() }),
  output: z.object({ sent: z.string() }),
  effect: 'idempotent',
  undo: 'none',
  lease: '5s',
});

export const hello = workflow('hello', { input: named, within: '1h' }, (w) => {
  const written = w.step('write', writeGreeting, { name: w.input.name });
  return w.step('send', sendGreeting, { text: written.output.text }).output;
});
