/**
 * Holds the amount on the payer's account: idempotent, one hold for each idempotency key. A payer without
 * enough funds is refused here, before anything moves. The undo releases by the key; the bank accepts a
 * release of funds that are not on hold.
 */

import * as z from 'zod/mini';
import { holdFunds } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Hold = z.object({ id: z.string() });

export const handler = holdFunds.handler({
  execute: async (ctx, { bank, ...hold }) => {
    const body = { key: ctx.idempotencyKey, executionId: ctx.executionId, ...hold };
    return { hold: (await callWorld(ctx, { method: 'POST', path: `/${bank}/holds`, body }, Hold)).id };
  },
  undo: (ctx, { bank }) =>
    callWorld(
      ctx,
      { method: 'DELETE', path: `/${bank}/holds`, query: { key: ctx.idempotencyKey } },
      z.unknown(),
    ),
});
