/** Work that the service accepts: it is probed until it is done. */

import { accepted, done, notDone, running } from 'steadfast';
import { scheduleShipping } from '../contracts.ts';
import { check, find, large, make, PAYMENT, takeBack } from '../service.ts';

const WORK_MS = 3_000;

export const handler = scheduleShipping.handler({
  execute: async (ctx, { orderId, text }) => {
    check(text);
    return accepted({ token: (await make(ctx, PAYMENT, orderId)).id, askAfter: '1s' });
  },
  probe: async (ctx, { orderId }) => {
    const [one] = await find(ctx, PAYMENT);
    if (one === undefined) return notDone();
    if (Date.now() - (one.at ?? 0) < WORK_MS) return running({ askAfter: '1s' });
    return done({ id: one.id, text: large(orderId) });
  },
  undo: (ctx) => takeBack(ctx, PAYMENT),
});
