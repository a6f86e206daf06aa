/**
 * Sends a mail, once for each idempotency key. What it says stays between the mail service and who reads it.
 */

import { byKey } from '../services.ts';
import { sendMail } from '../contracts.ts';

const mails = byKey('mail', 'mail');

export const handler = sendMail.handler({
  execute: async (ctx, { trip, to }) => ({ mail: await mails.act(ctx, { trip, to }) }),
});
