/**
 * Claims a name: idempotent, one claim for each idempotency key. A try in another region can claim the name
 * only after the undo has released it.
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
