/**
 * The contracts of the lanes workflow's agents. They have the example's names, because the faults use those.
 *
 * Owns: their inputs, outputs, effects. Does not own: what they do (`agents/`), the services that they use
 * (`service.ts`).
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '20s', lateEffectWithin: '1s' } as const;
const Text = z.string();
const In = z.object({ orderId: Text, text: Text });
const Out = z.object({ id: Text, text: Text });

export const chargeCard = agent('charge-card', {
  input: z.object({ orderId: Text }),
  output: Out,
  effect: 'probed',
  ...LIMITS,
});

/** One page of many. */
export const reserveStock = agent('reserve-stock', {
  input: z.object({ orderId: Text, page: z.number(), of: z.number(), text: Text }),
  output: z.object({ page: z.number(), hasMore: z.boolean(), text: Text }),
  effect: 'probed',
  ...LIMITS,
});

/** Its work is accepted first and done later. */
export const scheduleShipping = agent('schedule-shipping', {
  input: In,
  output: Out,
  effect: 'probed',
  acceptedWithin: '2m',
  ...LIMITS,
});

export const notifyCustomer = agent('notify-customer', {
  input: In,
  output: Out,
  effect: 'probed',
  ...LIMITS,
});
