/** Agents that run in containers; their input says how they behave. */

import { agent, retry, withInput, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Input = z.object({
  /** A file to which each attempt adds a line when it begins, and one when it is done. */
  journal: z.string(),
  /** How long the first attempt takes; later ones are quick. */
  ms: z.number(),
  /** Whether the first attempt starts a program and then blocks its process for ever. */
  wedge: z.optional(z.boolean()),
  /** Whether the first attempt reports a transient failure. */
  fail: z.optional(z.boolean()),
  /** A text that the output repeats. */
  film: z.optional(z.string()),
});
const contract = {
  input: Input,
  output: z.object({ attempt: z.number(), film: z.optional(z.string()) }),
  effect: 'idempotent',
  runsIn: 'container',
  lease: '3s',
  claimWithin: '3s',
  lateEffectWithin: '1s',
  undo: 'none',
} as const;

export const encode = agent('encode', { ...contract, timeout: '2h' });
/** An agent for long work, so that it delays no other agent. */
export const encodeAtLength = agent('encode-at-length', { ...contract, timeout: '2h' });
/** An agent with a short timeout, for work that hangs. */
export const encodeBriefly = agent('encode-briefly', { ...contract, timeout: '2s' });

/** An agent whose stalled work is killed, undone, and repeated in another way. */
export const encodeAnew = agent('encode-anew', {
  ...contract,
  input: z.object({ journal: z.string(), height: z.number() }),
  output: z.object({ height: z.number() }),
  timeout: '2h',
  progressWithin: '2s',
  undo: 'required',
});

export const encodeShow = workflow('encode-show', { input: Input, within: '5h' }, (w) => {
  const it = w.step(
    'it',
    encodeAnew,
    { journal: w.input.journal, height: 1080 },
    {
      recovery: [
        retry(1, { delay: '500ms', maxDelay: '500ms' }),
        withInput({ journal: w.input.journal, height: 720 }),
      ],
    },
  );
  return { height: it.output.height };
});

export const encodeVideo = workflow('encode-video', { input: Input, within: '3h' }, (w) => {
  const it = w.step('it', encode, w.input);
  return { attempt: it.output.attempt };
});

export const encodeFilm = workflow('encode-film', { input: Input, within: '3h' }, (w) => {
  const it = w.step('it', encodeAtLength, w.input);
  return { attempt: it.output.attempt };
});

export const encodeClip = workflow('encode-clip', { input: Input, within: '1h' }, (w) => {
  const it = w.step('it', encodeBriefly, w.input);
  return { attempt: it.output.attempt };
});
