/**
 * The inputs and outputs of this folder's agents: everything that an agent's function needs from the
 * workflow.
 *
 * The limits are short so that you can see a recovery on a laptop. `lateEffectWithin` is the longest time
 * that a bank's request may take.
 */

import { agent } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', claimWithin: '5s', timeout: '8s', lateEffectWithin: '4s' } as const;

export const Text = z.string().check(z.minLength(1));
/** An amount in whole cents. */
export const Amount = z.int().check(z.positive());
export const Account = z.object({ bank: z.enum(['north', 'south']), account: Text });
export type Account = z.infer<typeof Account>;

/** The payer's bank creates one hold per key. Funds on hold cannot be spent twice. */
export const holdFunds = agent('hold-funds', {
  input: z.object({ transfer: Text, ...Account.shape, amount: Amount }),
  output: z.object({ hold: Text }),
  effect: 'idempotent',
  ...LIMITS,
});

/** Asks whether the payee may be paid. The query changes nothing, however often it is sent. */
export const screenTransfer = agent('screen-transfer', {
  input: z.object({ transfer: Text, payee: Text }),
  output: z.object({ check: Text }),
  effect: 'none',
  ...LIMITS,
});

/**
 * One side of a transfer, in one bank's book. A bank books every request, including repeats, and finds its
 * bookings by their reference.
 */
export const postBooking = agent('post-booking', {
  input: z.object({
    transfer: Text,
    ...Account.shape,
    side: z.enum(['debit', 'credit']),
    amount: Amount,
    hold: z.optional(Text),
  }),
  output: z.object({ booking: Text }),
  effect: 'probed',
  ...LIMITS,
});
