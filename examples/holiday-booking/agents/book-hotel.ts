/**
 * Books a room, once for each idempotency key: a repeated request returns the same booking, and releasing a
 * room that was never booked does no harm.
 */

import { byKey } from '../services.ts';
import { bookHotel } from '../contracts.ts';

const rooms = byKey('hotels', 'room');

export const handler = bookHotel.handler({
  execute: async (ctx, input) => ({ booking: await rooms.act(ctx, input), hotel: input.hotel }),
  undo: (ctx) => rooms.undo(ctx),
});
