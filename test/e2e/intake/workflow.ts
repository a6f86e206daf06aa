/**
 * The smallest workflow that can be started from outside: it takes a file's name; other inputs do not fit.
 */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Text = z.string().check(z.minLength(1));

export const keepRecord = agent('keep-record', {
  input: z.object({ what: Text }),
  output: z.object({ kept: Text }),
  effect: 'idempotent',
  undo: 'none',
});

const Input = z.object({ what: Text, from: z.enum(['object', 'event', 'schedule', 'message', 'webhook']) });

export const intake = workflow('intake', { input: Input, within: '5m' }, (w) => {
  const keep = w.step('keep', keepRecord, { what: w.input.what });
  return { kept: keep.output.kept };
});
