/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflow.
 *
 * The limits are short so that you can see a recovery on a laptop.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '20s', lateEffectWithin: '1s' } as const;

export const Text = z.string().check(z.minLength(1));

/** The printer prints every request, including repeats, but keeps a journal of what it has printed. */
export const printLabel = agent('print-label', {
  input: z.object({ parcel: Text, address: Text }),
  output: z.object({ label: Text }),
  effect: 'probed',
  runsIn: 'container', // the container has Python
  progressWithin: '10s', // the program reports when the paper is in, and when it is printed
  ...LIMITS,
});

/** The carrier takes one order for each idempotency key. */
export const orderPickup = agent('order-pickup', {
  input: z.object({ parcel: Text, label: Text, kilograms: z.number() }),
  output: z.object({ pickup: Text }),
  effect: 'idempotent',
  ...LIMITS,
});
