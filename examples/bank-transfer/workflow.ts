/**
 * Bank transfer: reserve, screen, ask a second person above a limit, debit at the
 * payer's bank, credit at the payee's.
 *
 * Owns: the agents' contracts and the workflow. Does not own: how an agent does its work (`agents/`), the
 * banks (`world.ts`), what must be so at any moment (`audit.ts`).
 *
 * The limits are short so that you can see a recovery on a laptop. `settle` is what a
 * bank's slowest request may take.
 */

import { agent, gt, retry, workflow, type WorkflowOptions } from 'steadfast';
import * as z from 'zod/mini';

const LIMITS = { lease: '5s', pickup: '5s', timeout: '8s', settle: '4s' } as const;
const PATIENCE = retry(6, { first: '500ms', max: '5s' });
/** The retries of an undo. After them a person is asked; the money is in clearing meanwhile. */
const UNDO = retry(3, { first: '500ms', max: '2s' });

/** In cents. What is more is released by two persons. */
export const FOUR_EYES_ABOVE = 1_000_000;

const Text = z.string().check(z.minLength(1));
/** Whole cents. */
const Amount = z.int().check(z.positive());
const Account = z.object({ bank: z.enum(['north', 'south']), account: Text });
export type Account = z.infer<typeof Account>;

/** The payer's bank holds once for each key. Funds on hold cannot be spent twice. */
export const holdFunds = agent('hold-funds', {
  input: z.object({ transfer: Text, ...Account.shape, amount: Amount }),
  output: z.object({ hold: Text }),
  effect: 'idempotent',
  ...LIMITS,
});

/** Asks whether the payee may be paid. A question changes nothing, however often it is asked. */
export const screenTransfer = agent('screen-transfer', {
  input: z.object({ transfer: Text, payee: Text }),
  output: z.object({ check: Text }),
  effect: 'none',
  ...LIMITS,
});

/**
 * One side, in one bank's book. A bank books as often as it is asked to, and knows
 * its bookings by their reference.
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

const Transfer = z.object({ transfer: Text, from: Account, to: Account, amount: Amount });
export type Transfer = z.infer<typeof Transfer>;

const options: WorkflowOptions<Transfer> = {
  input: Transfer,
  within: '3d',
  search: ['transfer'],
  // A customer who pays ten thousand wages at once does not delay another's rent.
  fairBy: ({ from }) => from.account,
};
export const bankTransfer = workflow('bank-transfer', options, (w) => {
  const { transfer, from, to, amount } = w.input;
  const reserve = w.step(
    'reserve',
    holdFunds,
    { transfer, bank: from.bank, account: from.account, amount },
    { recovery: [PATIENCE], undo: UNDO },
  );
  const screen = w.step(
    'screen',
    screenTransfer,
    { transfer, payee: to.account },
    { after: [reserve], recovery: [PATIENCE] },
  );
  const release = w.approval('release', {
    by: 'another',
    // Who releases it sees what in the inbox, in the event and on the page.
    show: { amount, from: from.account, to: to.account },
    within: '2d',
    remindEvery: '4h',
    otherwise: 'reject',
    when: gt(amount, FOUR_EYES_ABOVE),
    after: [screen],
  });
  const debit = w.step(
    'debit',
    postBooking,
    { transfer, bank: from.bank, account: from.account, side: 'debit', amount, hold: reserve.output.hold },
    { after: [release], recovery: [PATIENCE], undo: UNDO },
  );
  // The payee may spend it at once: what is credited is not taken back.
  const credit = w.step(
    'credit',
    postBooking,
    { transfer, bank: to.bank, account: to.account, side: 'credit', amount },
    { after: [debit], recovery: [PATIENCE], pointOfNoReturn: true },
  );
  return { debit: debit.output.booking, credit: credit.output.booking };
});
