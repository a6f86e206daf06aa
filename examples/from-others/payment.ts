/**
 * A state machine: a payment is made and canceled in any order, any number of times, and forgotten after an
 * hour. From Restate, patterns-use-cases/statemachinepayments.
 */

import { agent, eq, orElse, received, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Act = z.object({ act: z.enum(['pay', 'cancel']) });
const State = z.object({ status: z.string() });
const Payment = z.object({ accountId: z.string(), amount: z.int() });
/** The table of moves: the next status and the action, for each status and message. */
const move = agent('move', {
  input: z.object({ status: z.string(), message: z.nullable(Act) }),
  output: z.object({ status: z.string(), pays: z.boolean(), refunds: z.boolean() }),
  effect: 'none',
});
const booking = { input: Payment, output: z.object({}), effect: 'idempotent', undo: 'none' } as const;
const withdraw = agent('withdraw', booking);
const deposit = agent('deposit', booking);

const Round = z.object({ message: z.nullable(Act), last: z.nullable(State), payment: Payment });
export const turn = workflow('turn', { input: Round, within: '1h' }, (w) => {
  const { message, last, payment } = w.input;
  const status = orElse(last.status, 'new');
  const moved = w.step('move', move, { status, message });
  w.step('withdraw', withdraw, payment, { when: moved.output.pays });
  w.step('deposit', deposit, payment, { when: moved.output.refunds });
  return { status: moved.output.status };
});

export const payment = workflow('payment', { input: Payment, within: '30d' }, (w) => {
  const turns = w.repeat('turns', turn, received('act', Act, { last: null, payment: w.input }), {
    next: received('act', Act, (last, given) => ({ last, payment: given.payment })),
    within: '1h',
    otherwise: 'continue',
    until: (last) => eq(last.status, 'expired'),
    maxRounds: 100,
  });
  return { turns: turns.output.rounds };
});
