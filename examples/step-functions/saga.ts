/** saga-pattern-sam: a flight and a car are reserved, paid and confirmed, or all is taken back. */

import { invoke, publish, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Trip = z.object({ tripId: z.string() });
const calling = (name: string, undo?: string) =>
  invoke(name, {
    input: Trip,
    output: z.object({ id: z.string() }),
    effect: 'idempotent',
    execute: ({ input, idempotencyKey: key }) => ({ function: name, payload: { tripId: input.tripId, key } }),
    undo: undo === undefined ? 'none' : ({ idempotencyKey: key }) => ({ function: undo, payload: { key } }),
  });
const reserveFlight = calling('reserve-flight', 'cancel-flight');
const reserveCar = calling('reserve-car', 'cancel-car');
const pay = calling('process-payment', 'refund-payment');
const confirmFlight = calling('confirm-flight');
const confirmCar = calling('confirm-car');
const text = publish('text-message', {
  input: z.object({ text: z.string() }),
  effect: 'idempotent',
  to: { topic: { env: 'TRIPS_TOPIC' } },
});

export const saga = workflow('saga', { input: Trip, within: '1d' }, (w) => {
  const recovery = [retry(6, { delay: '2s', maxDelay: '64s' })];
  const flight = w.step('flight', reserveFlight, w.input, { recovery });
  const car = w.step('car', reserveCar, w.input, { recovery, after: [flight] });
  const paid = w.step('pay', pay, w.input, { recovery, after: [car] });
  const sure = w.step('confirm-flight', confirmFlight, w.input, { recovery, after: [paid] });
  const both = w.step('confirm-car', confirmCar, w.input, { recovery, after: [sure] });
  w.step('told', text, { text: 'Your trip is booked' }, { after: [both], mayFail: true });
  w.onFailure('told-not', text, { text: 'Your trip could not be booked' });
});
