/** Human fallback: four tries, then a person decides; without an answer within a day the work is undone. */

import { agent, askPerson, retry, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Parcel = z.object({ orderId: z.string(), address: z.string() });
const Shipped = z.object({ trackingNumber: z.string() });

export const ship = agent('ship', { input: Parcel, output: Shipped, effect: 'idempotent' });

export const shipping = workflow('shipping', { input: Parcel, within: '3d' }, (w) => {
  const { orderId, address } = w.input;
  return w.step(
    'ship',
    ship,
    { orderId, address },
    {
      recovery: [retry(3, { delay: '5s', maxDelay: '1m' }), askPerson({ within: '1d', otherwise: 'undo' })],
    },
  ).output;
});
