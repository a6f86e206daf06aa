/**
 * Books a car at a rental that does not deduplicate, and may act seconds late: a probe asks the rental what
 * it has booked under the idempotency key.
 */

import { done, notDone } from 'steadfast';
import { byReference } from '../services.ts';
import { rentCar } from '../contracts.ts';

const cars = byReference('rental', 'car');

export const handler = rentCar.handler({
  execute: async (ctx, input) => ({ booking: await cars.act(ctx, input) }),
  probe: async (ctx) => {
    const booking = await cars.find(ctx);
    return booking === undefined ? notDone() : done({ booking });
  },
  undo: (ctx) => cars.undo(ctx),
});
