/**
 * Books a seat at an airline that does not deduplicate: a probe asks the airline what it has booked under the
 * idempotency key.
 */

import { done, notDone } from 'steadfast';
import { byReference } from '../services.ts';
import { bookFlight } from '../contracts.ts';

const seats = byReference('airline', 'seat');

export const handler = bookFlight.handler({
  execute: async (ctx, input) => ({ booking: await seats.act(ctx, input) }),
  probe: async (ctx) => {
    const booking = await seats.find(ctx);
    return booking === undefined ? notDone() : done({ booking });
  },
  undo: (ctx) => seats.undo(ctx),
});
