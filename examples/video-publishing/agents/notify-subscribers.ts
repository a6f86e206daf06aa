/** Notifies the subscribers, once for each effect key. */

import { notifySubscribers } from '../workflow.ts';
import { put } from '../library.ts';

export const handler = notifySubscribers.handler({
  execute: async (ctx, { title, page }) => ({ mail: await put('mails', ctx.effectKey, { title, page }) }),
});
