/** Asks the travel desk to confirm, once for each idempotency key. */

import { byKey } from '../services.ts';
import { askDesk } from '../contracts.ts';

const requests = byKey('desk', 'request');

export const handler = askDesk.handler({
  execute: async (ctx, input) => ({ request: await requests.act(ctx, input) }),
  undo: (ctx) => requests.undo(ctx),
});
