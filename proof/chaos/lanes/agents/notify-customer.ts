/** The last step: if it is declined, everything is undone. */

import { done, notDone } from 'steadfast';
import { notifyCustomer } from '../contracts.ts';
import { CARRIER, check, find, large, make, takeBack } from '../service.ts';

export const handler = notifyCustomer.handler({
  execute: async (ctx, { orderId, text }) => {
    check(text);
    return { id: (await make(ctx, CARRIER, orderId)).id, text: large(orderId) };
  },
  probe: async (ctx, { orderId }) => {
    const [one] = await find(ctx, CARRIER);
    return one === undefined ? notDone() : done({ id: one.id, text: large(orderId) });
  },
  undo: (ctx) => takeBack(ctx, CARRIER),
});
