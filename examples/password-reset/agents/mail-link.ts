/** Mails the link: idempotent, one mail for each idempotency key. */

import { mail } from '../services.ts';
import { mailLink } from '../contracts.ts';

export const handler = mailLink.handler({
  execute: async (ctx, { account, token }) => ({ mail: await mail(ctx, ctx.idempotencyKey, account, token) }),
});
