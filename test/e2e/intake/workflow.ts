/** The smallest workflow that triggers can start: its input must be a file's name. */

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
