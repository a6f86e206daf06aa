/** Compares the payee with the sanctions list: a query, without effect. A hit is final (`PermanentError`). */

import * as z from 'zod/mini';
import { screenTransfer } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Check = z.object({ id: z.string() });

export const handler = screenTransfer.handler({
  execute: async (ctx, input) => {
    const body = { reference: ctx.idempotencyKey, executionId: ctx.executionId, ...input };
    return { check: (await callWorld(ctx, { method: 'POST', path: '/screening/checks', body }, Check)).id };
  },
});
