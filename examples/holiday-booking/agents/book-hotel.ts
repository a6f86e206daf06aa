/**
 * Books a room, once for each idempotency key: asked again it gives the same one, and what was never
 * booked is released without harm.
 */

import { byKey } from '../services.ts';
import { bookHotel } from '../contracts.ts';

const rooms = byKey('hotels', 'room');

export const handler = bookHotel.handler({
  execute: async (ctx, input) => ({ booking: await rooms.act(ctx, input), hotel: input.hotel }),
  undo: (ctx) => rooms.undo(ctx),
});
