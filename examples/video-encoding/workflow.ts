/**
 * Video encoding: cut a film into chunks, encode them side by side, publish what has become of them as one
 * page. A film with a chunk at which the encoder stalls is encoded again as a whole, with other parameters.
 *
 * Owns: the workflows. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`), what encodes (`encoder.ts`), where films are (`library.ts`), the services (`world.ts`).
 */

import { retry, withInput, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { Chunks, encodeChunk, Encoding, Height, planChunks, publishFilm, Text } from './contracts.ts';

const PATIENCE = retry(4, { delay: '500ms', maxDelay: '5s' });

/**
 * One chunk in one height. Exported, so that one of them can be made by itself. What stalls
 * twice is not tried a third time.
 */
export const videoChunk = workflow('video-chunk', { input: Encoding, within: '6h' }, (w) => {
  const { output } = w.step('encode', encodeChunk, w.input, { recovery: [retry(1, { delay: '500ms' })] });
  return { file: output.file, seconds: output.seconds, height: output.height };
});

/** All chunks in one height: a player shows a rendition as a whole, and one whose heights change is none. */
const videoRendition = workflow(
  'video-rendition',
  { input: z.object({ chunks: Chunks, height: Height }), within: '12h' },
  (w) => {
    const { chunks, height } = w.input;
    const each = w.map('chunks', videoChunk, chunks, (chunk) => ({ chunk, height }), {
      // As many encoders as there are. No `mayFail`: a film without one of its chunks is none.
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
