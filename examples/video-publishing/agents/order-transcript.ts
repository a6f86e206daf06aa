/** Leaves an order for the transcriber, with the token by which the answer comes back. */

import { orderTranscript } from '../workflow.ts';
import { put, remove } from '../library.ts';

export const handler = orderTranscript.handler({
  execute: async (ctx, { upload, token }) => ({
    order: await put('transcripts', ctx.effectKey, { upload, token }),
  }),
  undo: (ctx) => remove('transcripts', ctx.effectKey),
});
