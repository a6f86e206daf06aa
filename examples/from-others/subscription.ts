/**
 * A trial, then a charge a month, until it is canceled.
 * From Temporal, subscription-workflow-project-template-go.
 */

import { agent, and, type Condition, exists, not, orElse, workflow } from 'steadfast';
import * as z from 'zod/mini';

const MONTHS = 11; // an execution lasts a year at most
const Customer = z.object({ customerId: z.string(), amount: z.int() });
const mail = agent('mail', {
  input: z.object({ customerId: z.string(), about: z.string() }),
  output: z.object({}),
  effect: 'idempotent',
  undo: 'none',
});
export const charge = agent('charge', {
  input: z.object({ customerId: z.string(), month: z.int(), amount: z.int() }),
  output: z.object({ chargeId: z.string() }),
  effect: 'probed',
  undo: 'none', // a month that was paid stays paid
});
const Cancel = z.object({ reason: z.string() });
const Amount = z.object({ amount: z.int() });

export const subscription = workflow('subscription', { input: Customer, within: '366d' }, (w) => {
  const { customerId } = w.input;
  const canceled = { name: 'cancel', message: Cancel, otherwise: 'continue' } as const;
  const changed = { name: 'amount', message: Amount, within: '1s', otherwise: 'continue' } as const;
  const welcome = w.step('welcome', mail, { customerId, about: 'welcome' });
  const trial = w.receive('trial', { ...canceled, within: '14d', after: [welcome] });
  let when: Condition = not(exists(trial.output.reason));
  let before = trial.name;
  let amount = orElse(w.input.amount, 0);
  for (let month = 1; month <= MONTHS; month += 1) {
    const change = w.receive(`amount-${month}`, { ...changed, when, after: [before] });
    amount = orElse(change.output.amount, amount);
    const paid = w.step(`charge-${month}`, charge, { customerId, month, amount }, { when, after: [change] });
    const remind = w.receive(`month-${month}`, { ...canceled, within: '27d', when, after: [paid] });
    when = and(when, not(exists(remind.output.reason)));
    const news = { customerId, about: 'a charge in three days' };
    const told = w.step(`remind-${month}`, mail, news, { when, after: [remind] });
    const over = w.receive(`end-${month}`, { ...canceled, within: '3d', when, after: [told] });
    when = and(when, not(exists(over.output.reason)));
    before = over.name;
  }
  w.step('over', mail, { customerId, about: 'over' }, { when, after: [before] });
  w.step('canceled', mail, { customerId, about: 'canceled' }, { when: not(when), after: [before] });
});
