/** Sends a mail, once for each idempotency key. Its text stays between the mail service and the reader. */

import { byKey } from '../services.ts';
import { sendMail } from '../contracts.ts';

const mails = byKey('mail', 'mail');

export const handler = sendMail.handler({
  execute: async (ctx, { trip, to }) => ({ mail: await mails.act(ctx, { trip, to }) }),
});
