/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflow.
 *
 * The limits are short so that you can see a recovery on a laptop. In production an attempt may take hours,
 * and `progressWithin` is minutes.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '3s', claimWithin: '5s', lateEffectWithin: '1s' } as const;

export const Text = z.string().check(z.minLength(1));
const Seconds = z.int().check(z.nonnegative());
const Chunk = z.object({ upload: Text, from: Seconds, seconds: Seconds });
/**
 * The chunks' results are read as one list, which may have up to 100 KB: this many chunks, with file names no
 * longer than ours.
 */
export const MOST_CHUNKS = 100;
export const Chunks = z.array(Chunk).check(z.maxLength(MOST_CHUNKS));
export const Height = z.int();
export const Encoding = z.object({ chunk: Chunk, height: Height });
const Segment = z.object({ file: Text.check(z.maxLength(200)), seconds: Seconds, height: Height });
export type Segment = z.infer<typeof Segment>;

/** Runs where the encoder's tools are. It only reads. */
export const planChunks = agent('plan-chunks', {
  input: z.object({ upload: Text }),
  output: z.object({ seconds: Seconds, chunks: Chunks }),
  effect: 'none',
  undo: 'none',
  runsIn: 'container',
  timeout: '1m',
  ...LIMITS,
});

/** One file for each idempotency key, so after an unknown outcome the step is simply tried again. */
export const encodeChunk = agent('encode-chunk', {
  input: Encoding,
  output: Segment,
  effect: 'idempotent',
  runsIn: 'container', // the container has the encoder, and runs as long as needed
  timeout: '30s',
  progressWithin: '4s', // heartbeats alone are not enough
  ...LIMITS,
});

/** The catalogue publishes every request, including repeats, but can be asked what it has published. */
export const publishFilm = agent('publish-film', {
  input: z.object({ title: Text, segments: z.array(z.nullable(Segment)) }),
  output: z.object({ page: Text }),
  effect: 'probed',
  timeout: '20s',
  ...LIMITS,
});
