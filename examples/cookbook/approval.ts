/** Approval with a deadline: a person decides within two days; no answer counts as a no. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Refund = z.object({ orderId: z.string(), amount: z.number() });

export const payBack = agent('pay-back', {
  input: Refund,
  output: z.null(),
  effect: 'idempotent',
  undo: 'none',
});

export const refund = workflow('refund', { input: Refund, within: '3d' }, (w) => {
  const { orderId, amount } = w.input;
  const ok = w.approval('ok', {
    within: '2d',
    otherwise: 'reject',
    remindEvery: '12h',
    show: { orderId, amount },
  });
  w.step('pay-back', payBack, { orderId, amount }, { after: [ok] });
});
