/** Asks the monitor to check a host: 503 means not up yet; 422 means sick, a permanent failure. */

import * as z from 'zod/mini';
import { checkHost } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Check = z.object({ id: z.string() });

export const handler = checkHost.handler({
  execute: async (ctx, { host, version }) => {
    const body = { reference: ctx.idempotencyKey, executionId: ctx.executionId, host, version };
    const { id } = await callWorld(ctx, { method: 'POST', path: '/monitor/checks', body }, Check);
    return { check: id };
  },
});
