/**
 * An expense that the manager approves, or, where the manager is silent, the director.
 * From Temporal, samples-go/expense.
 */

import { agent, and, eq, failed, or, orElse, succeeded, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Expense = z.object({ expenseId: z.string(), amount: z.int() });
export const pay = agent('pay-expense', {
  input: Expense,
  output: z.object({ paymentId: z.string() }),
  effect: 'unsafe', // the bank pays each request, and cannot be asked
});

export const expense = workflow('expense', { input: Expense, within: '30d' }, (w) => {
  const asked = { show: { amount: w.input.amount }, by: 'another' } as const;
  const manager = w.approval('manager', { ...asked, within: '2d', remindEvery: '1d', mayFail: true });
  const isSilent = and(failed(manager), eq(orElse(manager.failure.code, 'rejected'), 'no-answer'));
  const director = w.approval('director', { ...asked, within: '3d', when: isSilent, mayFail: true });
  const isApproved = or(succeeded(manager), succeeded(director));
  const paid = w.step('pay', pay, w.input, { when: isApproved });
  return { payment: orElse(paid.output.paymentId, 'not approved') };
});
