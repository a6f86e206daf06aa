/**
 * Encodes a chunk: idempotent, one file for each idempotency key; reports its progress. Above 720 lines it
 * needs a licence, which it checks at 47 %: while the licence service does not answer, the encoder makes no
 * progress, but its heartbeats continue.
 */

import type { AttemptContext } from 'steadfast';
import * as z from 'zod/mini';
import { encoder } from '../encoder.ts';
import { begin, finish, remove, uploadAt } from '../library.ts';
import { encodeChunk } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const FREE_HEIGHT = 720;
const CHECKED_AT = 0.47;

export const handler = encodeChunk.handler({
  execute: async (ctx, { chunk: { upload, from, seconds }, height }) => {
    const target = await begin(ctx);
    let licensed = height <= FREE_HEIGHT;
    const at = async (share: number): Promise<void> => {
      ctx.progress(licensed ? share : Math.min(share, CHECKED_AT));
      if (licensed || share < CHECKED_AT) return;
      await checkLicence(ctx, `${upload}/${from}`, height);
      licensed = true;
      ctx.progress(share);
    };
    // The contract's type shows only the two members that authors need; the value is the platform's own
    // signal.
    const signal = ctx.signal as AbortSignal;
    await encoder().encode({ source: uploadAt(upload), target, from, seconds, height, signal, at });
    return { file: await finish(target, ctx.idempotencyKey), seconds, height };
  },
  undo: (ctx) => remove(ctx.idempotencyKey),
});

async function checkLicence(ctx: AttemptContext, chunk: string, height: number): Promise<void> {
  const body = { reference: ctx.idempotencyKey, executionId: ctx.executionId, chunk, height };
  await callWorld(ctx, { method: 'POST', path: '/licence/checks', body }, z.unknown());
}
