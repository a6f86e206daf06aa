/**
 * Asks whether the site answers at its name: a query without effect, so it can be repeated as often as
 * needed.
 */

import * as z from 'zod/mini';
import { checkSite } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Check = z.object({ id: z.string() });

export const handler = checkSite.handler({
  execute: async (ctx, input) => {
    const body = { reference: ctx.idempotencyKey, executionId: ctx.executionId, ...input };
    return { id: (await callWorld(ctx, { method: 'POST', path: '/site/checks', body }, Check)).id };
  },
});
