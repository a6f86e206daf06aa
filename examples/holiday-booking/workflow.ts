/**
 * Holiday booking: books a flight, a hotel and a car in parallel; takes another hotel if the first is full;
 * goes without a car if there is none; then a person at the travel desk confirms the trip. If anything stops
 * it, all bookings are undone and customer service is informed.
 *
 * Owns: the workflow. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`), or the services it talks to (`world.ts`).
 */

import { failed, orElse, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { askDesk, bookFlight, bookHotel, rentCar, sendMail, Text } from './contracts.ts';

const PATIENCE = retry(6, { delay: '500ms', maxDelay: '5s' });
const UNDO = retry(20, { delay: '500ms', maxDelay: '5s' });

const Trip = z.object({ trip: Text, to: Text, hotel: Text, otherHotel: Text });
export type Trip = z.infer<typeof Trip>;

export const holidayBooking = workflow('holiday-booking', { input: Trip, within: '1h' }, (w) => {
  const { trip, to, hotel, otherHotel } = w.input;
  const how = { recovery: [PATIENCE], retryUndo: UNDO } as const;

  const flight = w.step('flight', bookFlight, { trip, to }, how);
  // The second hotel is asked only once it is certain that the first has no room.
  const first = w.step('hotel', bookHotel, { trip, hotel }, { ...how, mayFail: true });
  const other = w.step(
    'other-hotel',
    bookHotel,
    { trip, hotel: otherHotel },
    { ...how, when: failed(first) },
  );
  // Without a car, the traveller takes the bus.
  const car = w.step('car', rentCar, { trip }, { ...how, mayFail: true });

  const confirmed = w.callback('confirmed', {
    output: z.object({ by: Text }),
    within: '30m',
    heartbeatEvery: '12s', // a desk that is silent for longer has gone home
    after: [flight, other, car],
  });
  w.step('ask', askDesk, { trip, token: confirmed.token }, { ...how, after: [flight, other, car] });
  w.step(
    'itinerary',
    sendMail,
    { trip, to: 'traveller', text: confirmed.output.by },
    { recovery: [PATIENCE], mayFail: true },
  );
  // Only after everything is undone: customer service then calls the traveller.
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
