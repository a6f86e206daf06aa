/** A trip that is booked and then confirmed by a person, with the agent's new name. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

export const reserveTrip = agent('reserve-trip', {
  input: z.object({ to: z.string() }),
  output: z.object({ booked: z.string() }),
  effect: 'idempotent',
  claimWithin: '1s',
});

export const trip = workflow('trip', { input: z.object({ to: z.string() }), within: '1h' }, (w) => {
  const book = w.step('book', reserveTrip, { to: w.input.to });
  w.approval('confirm', { within: '30m', after: [book] });
});
