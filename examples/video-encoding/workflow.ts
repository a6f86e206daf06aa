/**
 * Video encoding: cut a film into chunks, encode them side by side, publish what has become of them as one
 * page. A film with a chunk at which the encoder stalls is encoded again as a whole, with other parameters.
 *
 * Owns: the agents' contracts and the workflows. Does not own: how an agent does its work (`agents/`), what
 * encodes (`encoder.ts`), where films are (`library.ts`), the services (`world.ts`).
 *
 * The limits are short so that you can see a recovery on a laptop. In production an attempt may take hours,
 * and `maxNoProgress` is minutes.
 */

import { agent, retry, withInput, workflow } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '3s', pickup: '5s', settle: '1s' } as const;
const PATIENCE = retry(4, { first: '500ms', max: '5s' });

const Text = z.string().check(z.minLength(1));
const Seconds = z.int().check(z.nonnegative());
const Chunk = z.object({ upload: Text, from: Seconds, seconds: Seconds });
/**
 * What they become is read as one list, which is kept up to 100 KB: so many
 * chunks, and no longer names of files.
 */
export const MOST_CHUNKS = 100;
const Chunks = z.array(Chunk).check(z.maxLength(MOST_CHUNKS));
const Height = z.int();
const Encoding = z.object({ chunk: Chunk, height: Height });
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

/** One file for each effect key, so an unknown outcome is simply tried again. */
export const encodeChunk = agent('encode-chunk', {
  input: Encoding,
  output: Segment,
  effect: 'idempotent',
  runsIn: 'container', // where the encoder is, for as long as it takes
  timeout: '30s',
  maxNoProgress: '4s', // being alive is not enough
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

/**
 * One chunk in one height. Exported, so that one of them can be made by itself. What stalls
 * twice is not tried a third time.
 */
export const videoChunk = workflow('video-chunk', { input: Encoding, within: '6h' }, (w) => {
  const { output } = w.step('encode', encodeChunk, w.input, { recovery: [retry(1, { first: '500ms' })] });
  return { file: output.file, seconds: output.seconds, height: output.height };
});

/** All chunks in one height: a player shows a rendition as a whole, and one whose heights change is none. */
const videoRendition = workflow(
  'video-rendition',
  { input: z.object({ chunks: Chunks, height: Height }), within: '12h' },
  (w) => {
    const { chunks, height } = w.input;
    const each = w.map('chunks', videoChunk, chunks, (chunk) => ({ chunk, height }), {
      // As many encoders as there are. No `tolerate`: a film without one of its chunks is none.
      concurrency: 2,
    });
    return { segments: each.output.items };
  },
);

const Upload = z.object({ upload: Text, title: Text });
export type Upload = z.infer<typeof Upload>;

export const videoEncoding = workflow('video-encoding', { input: Upload, within: '1d' }, (w) => {
  const { upload, title } = w.input;
  const plan = w.step('plan', planChunks, { upload }, { recovery: [PATIENCE] });
  const { chunks } = plan.output;
  // Where a chunk cannot be had in 1080 lines, those that are there are removed, and
  // all of them are encoded in 720.
  const encode = w.child(
    'encode',
    videoRendition,
    { chunks, height: 1080 },
    { recovery: [withInput({ chunks, height: 720 }, { attempts: 4 })] },
  );
  const publish = w.step(
    'publish',
    publishFilm,
    { title, segments: encode.output.segments },
    { recovery: [PATIENCE] },
  );
  return { page: publish.output.page, seconds: plan.output.seconds };
});
