/** Agents in Python whose service does not deduplicate; their first attempt hangs if their input says so. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Input = z.object({
  /** A file with a line for each engraving, and for each attempt that hangs. */
  journal: z.string(),
  /** Whether the first attempt hangs before it has engraved, or afterwards. */
  hangs: z.enum(['before', 'after']),
});

const contract = {
  input: Input,
  output: z.object({ attempt: z.number() }),
  effect: 'probed',
  lease: '3s',
  claimWithin: '3s',
  lateEffectWithin: '1s',
  timeout: '10m',
  undo: 'none',
} as const;

export const engrave = agent('engrave', { ...contract, runsIn: 'container' });
export const engraveByUrl = agent('engrave-by-url', contract);

export const engraving = workflow('engraving', { input: Input, within: '1h' }, (w) => {
  const it = w.step('it', engrave, w.input);
  return { attempt: it.output.attempt };
});

export const engravingByUrl = workflow('engraving-by-url', { input: Input, within: '1h' }, (w) => {
  const it = w.step('it', engraveByUrl, w.input);
  return { attempt: it.output.attempt };
});
