/**
 * Issues a token: idempotent, one for each idempotency key. The undo revokes by the key, so it needs no
 * output.
 */

import { issue, revoke } from '../services.ts';
import { issueToken } from '../contracts.ts';

export const handler = issueToken.handler({
  execute: async (ctx, { account }) => ({ token: await issue(ctx, ctx.idempotencyKey, account) }),
  undo: (ctx) => revoke(ctx, ctx.idempotencyKey),
});
