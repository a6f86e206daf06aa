/**
 * Requests a stamp from the service, which does not recognise repeated requests. A probe asks for the stamp
 * by its key.
 */

import { done, notDone } from 'steadfast';
import { stamp } from '../workflow.mjs';

const urlOf = ({ idempotencyKey }) => `${process.env.STAMPS_URL}/${idempotencyKey}`;

export const handler = stamp.handler({
  execute: async (ctx, input) => {
    const answer = await fetch(urlOf(ctx), { method: 'POST', signal: ctx.signal });
    if (!answer.ok) throw new Error(`the service said ${answer.status}`);
    return input;
  },
  probe: async (ctx, input) => {
    const answer = await fetch(urlOf(ctx), { signal: ctx.signal });
    const { stamps } = await answer.json();
    return stamps > 0 ? done(input) : notDone();
  },
});
