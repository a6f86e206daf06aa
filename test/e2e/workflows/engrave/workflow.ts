/** An agent in Python whose service does not deduplicate; its first attempt hangs where its input says. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Input = z.object({
  /** A file: a line for each engraving, and one for each attempt that hangs. */
  journal: z.string(),
  /** Whether the first attempt hangs before it has engraved, or afterwards. */
  hangs: z.enum(['before', 'after']),
});

export const engrave = agent('engrave', {
  input: Input,
  output: z.object({ attempt: z.number() }),
  effect: 'probed',
  runsIn: 'container',
  lease: '3s',
  pickup: '3s',
  settle: '1s',
  timeout: '10m',
  undo: 'none',
});

export const engraving = workflow('engraving', { input: Input, within: '1h' }, (w) => {
  const it = w.step('it', engrave, w.input);
  return { attempt: it.output.attempt };
});
