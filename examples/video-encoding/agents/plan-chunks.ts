/** Plans how a film is cut: chunks of two seconds, so that it can be watched, and the rest. */

import { existsSync } from 'node:fs';
import { PermanentError } from 'steadfast';
import { encoder } from '../encoder.ts';
import { uploadAt } from '../library.ts';
import { planChunks } from '../workflow.ts';

const CHUNK_SECONDS = 2;

export const handler = planChunks.handler({
  execute: async (_ctx, { upload }) => {
    const file = uploadAt(upload);
    if (!existsSync(file)) throw new PermanentError(`there is no film '${upload}' among the uploads`);
    const seconds = await encoder().secondsOf(file);
    const chunks = Array.from({ length: Math.ceil(seconds / CHUNK_SECONDS) }, (_, at) => {
      const from = at * CHUNK_SECONDS;
      return { upload, from, seconds: Math.min(CHUNK_SECONDS, seconds - from) };
    });
    return { seconds, chunks };
  },
});
