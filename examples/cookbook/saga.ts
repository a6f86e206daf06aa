/** Saga: three bookings; if the last one fails, the first two are undone, the latest first. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Trip = z.object({ city: z.string() });
const Booking = z.object({ booking: z.string() });
const booked = { input: Trip, output: Booking, effect: 'idempotent' } as const;

export const bookFlight = agent('book-flight', booked);
export const bookHotel = agent('book-hotel', booked);
export const bookCar = agent('book-car', booked);

export const trip = workflow('trip', { input: Trip, within: '1h' }, (w) => {
  const { city } = w.input;
  const flight = w.step('flight', bookFlight, { city });
  const hotel = w.step('hotel', bookHotel, { city }, { after: [flight] });
  w.step('car', bookCar, { city }, { after: [hotel] });
});
