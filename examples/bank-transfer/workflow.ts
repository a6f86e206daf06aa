/**
 * Bank transfer: reserve, screen, ask a second person above a limit, debit at the
 * payer's bank, credit at the payee's.
 *
 * Owns: the workflow. Does not own: the agents' contracts (`contracts.ts`), how an agent does its work
 * (`agents/`), the banks (`world.ts`), the audit (`audit.ts`).
 */

import { gt, retry, workflow, type WorkflowOptions } from 'steadfast';
import * as z from 'zod/mini';
import { Account, Amount, holdFunds, postBooking, screenTransfer, Text } from './contracts.ts';

const PATIENCE = retry(6, { delay: '500ms', maxDelay: '5s' });
/** Retries of an undo. After them a person is asked; the money stays in clearing meanwhile. */
const UNDO = retry(3, { delay: '500ms', maxDelay: '2s' });

/** In cents. A larger amount needs the release of a second person. */
export const FOUR_EYES_ABOVE = 1_000_000;

const Transfer = z.object({ transfer: Text, from: Account, to: Account, amount: Amount });
export type Transfer = z.infer<typeof Transfer>;

const options: WorkflowOptions<Transfer> = {
  input: Transfer,
  within: '3d',
  tags: ['transfer'],
  // Fair turns by account: ten thousand wages of one customer do not delay another's rent.
  fairBy: ({ from }) => from.account,
};
export const bankTransfer = workflow('bank-transfer', options, (w) => {
  const { transfer, from, to, amount } = w.input;
  const reserve = w.step(
    'reserve',
    holdFunds,
    { transfer, bank: from.bank, account: from.account, amount },
    { recovery: [PATIENCE], retryUndo: UNDO },
  );
  const screen = w.step(
    'screen',
    screenTransfer,
    { transfer, payee: to.account },
    { after: [reserve], recovery: [PATIENCE] },
  );
  const release = w.approval('release', {
    by: 'another',
    // The values that the releasing person sees in the inbox, in the event and on the page.
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
    { after: [release], recovery: [PATIENCE], retryUndo: UNDO },
  );
  // The payee may spend a credit at once, so a credit is never undone.
  const credit = w.step(
    'credit',
    postBooking,
    { transfer, bank: to.bank, account: to.account, side: 'credit', amount },
    { after: [debit], recovery: [PATIENCE], pointOfNoReturn: true },
  );
  return { debit: debit.output.booking, credit: credit.output.booking };
});
