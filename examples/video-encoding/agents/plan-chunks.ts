/**
 * Plans how to cut a film: into chunks of two seconds, so that you can see it run, longer ones for a long
 * film, and the rest.
 */

import { existsSync } from 'node:fs';
import { PermanentError } from 'steadfast';
import { encoder } from '../encoder.ts';
import { uploadAt } from '../library.ts';
import { MOST_CHUNKS, planChunks } from '../contracts.ts';

const CHUNK_SECONDS = 2;

export const handler = planChunks.handler({
  execute: async (_ctx, { upload }) => {
    const file = uploadAt(upload);
    if (!existsSync(file)) throw new PermanentError(`there is no film '${upload}' among the uploads`);
    const seconds = await encoder().secondsOf(file);
    const long = Math.max(CHUNK_SECONDS, Math.ceil(seconds / MOST_CHUNKS));
    const chunks = Array.from({ length: Math.ceil(seconds / long) }, (_, at) => {
      const from = at * long;
      return { upload, from, seconds: Math.min(long, seconds - from) };
    });
    return { seconds, chunks };
  },
});
