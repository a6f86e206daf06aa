import { reserveTrip } from '../workflow.ts';

export const handler = reserveTrip.handler({
  execute: async (_ctx, input) => ({ booked: input.to }),
  undo: async () => undefined,
});
