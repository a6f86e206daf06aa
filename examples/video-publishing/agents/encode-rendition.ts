/** Encodes one size of a film, piece by piece, and says after each piece how far it is. */

import { setTimeout } from 'node:timers/promises';
import { encodeRendition } from '../workflow.ts';
import { put, remove } from '../library.ts';

const PIECES = 4;
/** A pretence of work, so that it can be watched. */
const pieceMs = (): number => Number(process.env['VIDEO_PIECE_MS'] ?? 250);

export const handler = encodeRendition.handler({
  execute: async (ctx, { upload, height }) => {
    for (let piece = 1; piece <= PIECES; piece += 1) {
      if (pieceMs() > 0) await setTimeout(pieceMs());
      if (ctx.signal.aborted) throw new Error('another attempt has taken over');
      ctx.progress(piece);
    }
    return { height, file: await put('renditions', ctx.effectKey, { upload, height }) };
  },
  undo: (ctx) => remove('renditions', ctx.effectKey),
});
