/**
 * Books one side of a transfer, a debit or a credit, at a bank that books once per request, even if the
 * request is a repeat.
 *
 * The probe makes it safe: each booking carries the idempotency key as its reference, so a probe finds the
 * booking of an attempt that went silent, and the undo reverses every booking with that reference.
 */

import { type AttemptContext, done, notDone } from 'steadfast';
import * as z from 'zod/mini';
import { postBooking } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Booking = z.object({ id: z.string(), undone: z.boolean() });

const bookings = async (ctx: AttemptContext, bank: string): Promise<readonly z.infer<typeof Booking>[]> => {
  const query = { reference: ctx.idempotencyKey };
  const found = z.object({ bookings: z.array(Booking) });
  return (await callWorld(ctx, { method: 'GET', path: `/${bank}/bookings`, query }, found)).bookings;
};

export const handler = postBooking.handler({
  execute: async (ctx, { bank, ...side }) => {
    const body = { reference: ctx.idempotencyKey, executionId: ctx.executionId, ...side };
    const booking = await callWorld(ctx, { method: 'POST', path: `/${bank}/bookings`, body }, Booking);
    return { booking: booking.id };
  },
  probe: async (ctx, { bank }) => {
    const [booking] = await bookings(ctx, bank);
    return booking === undefined ? notDone() : done({ booking: booking.id });
  },
  undo: async (ctx, { bank }) => {
    for (const { id, undone } of await bookings(ctx, bank)) {
      if (undone) continue; // the bank would reverse it a second time
      await callWorld(ctx, { method: 'POST', path: `/${bank}/bookings/${id}/reverse` }, z.unknown());
    }
  },
});
