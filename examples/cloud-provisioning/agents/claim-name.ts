/**
 * Claims a name: idempotent, one for each idempotency key. Another region's try may claim it only when this
 * one has given it up, so the undo is what makes that try possible.
 */

import * as z from 'zod/mini';
import { claimName } from '../contracts.ts';
import { callWorld, remove } from '../world-client.ts';

const Name = z.object({ id: z.string() });

export const handler = claimName.handler({
  execute: async (ctx, input) => {
    const body = { key: ctx.idempotencyKey, executionId: ctx.executionId, ...input };
    return { id: (await callWorld(ctx, { method: 'POST', path: '/names/names', body }, Name)).id };
  },
  undo: (ctx) => remove(ctx, { method: 'DELETE', path: '/names/names', query: { key: ctx.idempotencyKey } }),
});
