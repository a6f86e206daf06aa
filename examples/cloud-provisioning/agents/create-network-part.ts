/**
 * Makes a part of the network: idempotent, one for each idempotency key. The undo removes by the key, and
 * what was never made is fine. While something uses it the service refuses (409): then the undo is tried
 * again.
 */

import * as z from 'zod/mini';
import { createNetworkPart } from '../contracts.ts';
import { callWorld, remove } from '../world-client.ts';

const Part = z.object({ id: z.string() });

export const handler = createNetworkPart.handler({
  execute: async (ctx, input) => {
    const body = { key: ctx.idempotencyKey, executionId: ctx.executionId, ...input };
    const { id } = await callWorld(ctx, { method: 'POST', path: '/network/parts', body }, Part);
    return { id };
  },
  undo: (ctx) =>
    remove(ctx, { method: 'DELETE', path: '/network/parts', query: { key: ctx.idempotencyKey } }),
});
