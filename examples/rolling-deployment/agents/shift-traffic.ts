/**
 * Takes a host out of the load balancer, or puts it back: idempotent, the balancer executes a command once
 * for each key. The undo uses the key, so it needs no output; the balancer accepts an undo of a command that
 * it never got.
 */

import * as z from 'zod/mini';
import { shiftTraffic } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Shift = z.object({ id: z.string() });

export const handler = shiftTraffic.handler({
  execute: async (ctx, { host, to }) => {
    const body = { key: ctx.idempotencyKey, executionId: ctx.executionId, host, to };
    const { id } = await callWorld(ctx, { method: 'POST', path: '/balancer/shifts', body }, Shift);
    return { shift: id };
  },
  undo: async (ctx) => {
    const query = { key: ctx.idempotencyKey };
    await callWorld(ctx, { method: 'DELETE', path: '/balancer/shifts', query }, z.unknown());
  },
});
