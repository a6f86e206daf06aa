/**
 * Holiday booking: a flight, a hotel and a car side by side; another hotel in the place of one that is full;
 * no car if there is none; then a person at the travel desk confirms it. Whatever stops it, all that was
 * booked is given back, and customer service hears of it.
 *
 * Owns: the agents' contracts and the workflow. Does not own: how an agent does its work (`agents/`), or the
 * services it talks to (`world.ts`).
 *
 * The limits are short so that you can see a recovery on a laptop.
 */

import { agent, failed, orElse, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', pickup: '5s', timeout: '10s', settle: '4s' } as const;
const PATIENCE = retry(6, { first: '500ms', max: '5s' });
const UNDO = retry(20, { first: '500ms', max: '5s' });

const Text = z.string().check(z.minLength(1));
const Booked = z.object({ booking: Text });

/** The airline books whenever it is asked, so an unknown outcome must be asked for. */
export const bookFlight = agent('book-flight', {
  input: z.object({ trip: Text, to: Text }),
  output: Booked,
  effect: 'probed',
  ...LIMITS,
});

/** Hotels book once per key, so an unknown outcome is simply tried again. */
export const bookHotel = agent('book-hotel', {
  input: z.object({ trip: Text, hotel: Text }),
  output: z.object({ booking: Text, hotel: Text }),
  effect: 'idempotent',
  ...LIMITS,
});

/**
 * The rental books whenever it is asked, and may do so seconds after its caller has given
 * up: `settle` is longer than that.
 */
export const rentCar = agent('rent-car', {
  input: z.object({ trip: Text }),
  output: Booked,
  effect: 'probed',
  ...LIMITS,
});

/** Hands the desk the token with which it confirms; a request that is not needed any more is withdrawn. */
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

const Trip = z.object({ trip: Text, to: Text, hotel: Text, otherHotel: Text });
export type Trip = z.infer<typeof Trip>;

export const holidayBooking = workflow('holiday-booking', { input: Trip, within: '1h' }, (w) => {
  const { trip, to, hotel, otherHotel } = w.input;
  const how = { recovery: [PATIENCE], undo: UNDO } as const;

  const flight = w.step('flight', bookFlight, { trip, to }, how);
  // Only when it is certain that there is no room in the first one is the other one asked.
  const first = w.step('hotel', bookHotel, { trip, hotel }, { ...how, tolerate: true });
  const other = w.step(
    'other-hotel',
    bookHotel,
    { trip, hotel: otherHotel },
    { ...how, when: failed(first) },
  );
  // Who gets no car takes the bus.
  const car = w.step('car', rentCar, { trip }, { ...how, tolerate: true });

  const confirmed = w.callback('confirmed', {
    output: z.object({ by: Text }),
    within: '30m',
    heartbeatEvery: '12s', // a desk that says nothing for so long has gone home
    after: [flight, other, car],
  });
  w.step('ask', askDesk, { trip, token: confirmed.token }, { ...how, after: [flight, other, car] });
  w.step(
    'itinerary',
    sendMail,
    { trip, to: 'traveller', text: confirmed.output.by },
    { recovery: [PATIENCE], tolerate: true },
  );
  // When all is given back, and not before: they call the traveller.
  w.onFailure(
    'tell-service',
    sendMail,
    { trip, to: 'customer-service', text: w.failure.message },
    { recovery: [PATIENCE] },
  );
  return {
    flight: flight.output.booking,
    hotel: orElse(first.output.hotel, orElse(other.output.hotel, 'none')),
    car: orElse(car.output.booking, 'none'),
  };
});
