/**
 * Video encoding: cut a film into chunks, encode them in parallel, publish the result as one page. If the
 * encoder stalls at a chunk, the whole film is encoded again, with other parameters.
 *
 * Owns: the workflows. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`), the encoder (`encoder.ts`), the place of films (`library.ts`), the services (`world.ts`).
 */

import { retry, withInput, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { Chunks, encodeChunk, Encoding, Height, planChunks, publishFilm, Text } from './contracts.ts';

const PATIENCE = retry(4, { delay: '500ms', maxDelay: '5s' });

/**
 * One chunk in one height. Exported, so that a chunk can be made by itself. A chunk that stalls twice is not
 * tried a third time.
 */
export const videoChunk = workflow('video-chunk', { input: Encoding, within: '6h' }, (w) => {
  const { output } = w.step('encode', encodeChunk, w.input, { recovery: [retry(1, { delay: '500ms' })] });
  return { file: output.file, seconds: output.seconds, height: output.height };
});

/** All chunks in one height: a player needs a whole rendition, and cannot play one whose heights change. */
const videoRendition = workflow(
  'video-rendition',
  { input: z.object({ chunks: Chunks, height: Height }), within: '12h' },
  (w) => {
    const { chunks, height } = w.input;
    const each = w.map('chunks', videoChunk, chunks, (chunk) => ({ chunk, height }), {
      // The number of encoders. No `mayFail`: without one of its chunks, a film is incomplete.
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
  // If a chunk cannot be made in 1080 lines, the existing chunks are removed, and all of them are encoded in
  // 720.
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
