/**
 * Creates a part of the network: idempotent, one part for each idempotency key. The undo removes by the key;
 * a part that was never created is fine. While something uses the part, the service refuses to remove it
 * (409); then the undo is retried.
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
