/**
 * What the agents of this folder take and give: all that an agent's function needs of the workflow.
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
 * What they become is read as one list, which is kept up to 100 KB: so many
 * chunks, and no longer names of files.
 */
export const MOST_CHUNKS = 100;
export const Chunks = z.array(Chunk).check(z.maxLength(MOST_CHUNKS));
export const Height = z.int();
export const Encoding = z.object({ chunk: Chunk, height: Height });
const Segment = z.object({ file: Text.check(z.maxLength(200)), seconds: Seconds, height: Height });
export type Segment = z.infer<typeof Segment>;

/** Where the encoder's tools are. It reads, and nothing else. */
export const planChunks = agent('plan-chunks', {
  input: z.object({ upload: Text }),
  output: z.object({ seconds: Seconds, chunks: Chunks }),
  effect: 'none',
  undo: 'none',
  runsIn: 'container',
  timeout: '1m',
  ...LIMITS,
});

/** One file for each idempotency key, so an unknown outcome is simply tried again. */
export const encodeChunk = agent('encode-chunk', {
  input: Encoding,
  output: Segment,
  effect: 'idempotent',
  runsIn: 'container', // where the encoder is, for as long as it takes
  timeout: '30s',
  progressWithin: '4s', // being alive is not enough
  ...LIMITS,
});

/** The catalogue publishes as often as it is asked, but can be asked what it has published. */
export const publishFilm = agent('publish-film', {
  input: z.object({ title: Text, segments: z.array(z.nullable(Segment)) }),
  output: z.object({ page: Text }),
  effect: 'probed',
  timeout: '20s',
  ...LIMITS,
});
