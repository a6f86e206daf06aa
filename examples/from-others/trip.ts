/**
 * A trip that a person agrees to before it is paid, and a booking that cannot be taken back.
 * From Restate, sagas.
 */

import { agent, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Trip = z.object({ tripId: z.string(), price: z.int() });
const Booked = z.object({ id: z.string() });
export const bookFlight = agent('book-flight', { input: Trip, output: Booked, effect: 'idempotent' });
export const bookCar = agent('book-car', { input: Trip, output: Booked, effect: 'probed' });
export const pay = agent('pay-trip', { input: Trip, output: Booked, effect: 'probed' });

export const trip = workflow('trip', { input: Trip, within: '7d' }, (w) => {
  const recovery = [retry(3)];
  const retryUndo = retry(3);
  const flight = w.step('flight', bookFlight, w.input, { recovery, retryUndo });
  const car = w.step('car', bookCar, w.input, { recovery, retryUndo, after: [flight] });
  const { price } = w.input;
  const agreed = w.approval('agree', { within: '2d', remindEvery: '1d', show: { price }, after: [car] });
  return w.step('pay', pay, w.input, { after: [agreed] }).output;
});
