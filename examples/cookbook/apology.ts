/** Compensating e-mail: an e-mail that was sent cannot be unsent, so its undo sends a correction. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Ticket = z.object({ email: z.string(), show: z.string() });

export const confirm = agent('confirm', { input: Ticket, output: z.null(), effect: 'idempotent' });
export const printTicket = agent('print-ticket', { input: Ticket, output: z.null(), effect: 'idempotent' });

export const ticket = workflow('ticket', { input: Ticket, within: '1h' }, (w) => {
  const { email, show } = w.input;
  const confirmed = w.step('confirm', confirm, { email, show });
  w.step('print', printTicket, { email, show }, { after: [confirmed] });
});

export const confirmWith = (send: (key: string, to: string, text: string) => Promise<unknown>) =>
  confirm.handler({
    execute: async (ctx, { email, show }) => {
      await send(ctx.idempotencyKey, email, `Your ticket for ${show} is coming.`);
      return null;
    },
    undo: async (ctx, { email, show }) => {
      await send(`${ctx.idempotencyKey}-undo`, email, `We are sorry: there is no ticket for ${show}.`);
    },
  });
