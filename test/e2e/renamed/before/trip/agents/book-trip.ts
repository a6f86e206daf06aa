import { bookTrip } from '../workflow.ts';

export const handler = bookTrip.handler({
  execute: async (_ctx, input) => ({ booked: input.to }),
  undo: async () => undefined,
});
