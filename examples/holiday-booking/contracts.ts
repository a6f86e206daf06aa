/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflow.
 *
 * The limits are short so that you can see a recovery on a laptop.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '10s', lateEffectWithin: '4s' } as const;

export const Text = z.string().check(z.minLength(1));
const Booked = z.object({ booking: Text });

/** The airline books every request, including repeats, so an unknown outcome needs a probe. */
export const bookFlight = agent('book-flight', {
  input: z.object({ trip: Text, to: Text }),
  output: Booked,
  effect: 'probed',
  ...LIMITS,
});

/** Hotels book once per key, so after an unknown outcome the step is simply tried again. */
export const bookHotel = agent('book-hotel', {
  input: z.object({ trip: Text, hotel: Text }),
  output: z.object({ booking: Text, hotel: Text }),
  effect: 'idempotent',
  ...LIMITS,
});

/**
 * The rental books every request, including repeats, and may do so seconds after its caller has given up:
 * `lateEffectWithin` is longer than that.
 */
export const rentCar = agent('rent-car', {
  input: z.object({ trip: Text }),
  output: Booked,
  effect: 'probed',
  ...LIMITS,
});

/** Gives the desk the token with which it confirms; withdraws a request that is no longer needed. */
export const askDesk = agent('ask-desk', {
  input: z.object({ trip: Text, token: Text }),
  output: z.object({ request: Text }),
  effect: 'idempotent',
  ...LIMITS,
});

/** The mail service sends once per key; a mail that was sent cannot be unsent. */
export const sendMail = agent('send-mail', {
  input: z.object({ trip: Text, to: z.enum(['traveller', 'customer-service']), text: z.string() }),
  output: z.object({ mail: Text }),
  effect: 'idempotent',
  undo: 'none',
  ...LIMITS,
});
