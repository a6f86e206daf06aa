/** The first step of an execution that has its place. */

import { done, notDone } from 'steadfast';
import { chargeCard } from '../contracts.ts';
import { find, large, make, PAYMENT, takeBack } from '../service.ts';

export const handler = chargeCard.handler({
  execute: async (ctx, { orderId }) => ({ id: (await make(ctx, PAYMENT, orderId)).id, text: large(orderId) }),
  probe: async (ctx, { orderId }) => {
    const [one] = await find(ctx, PAYMENT);
    return one === undefined ? notDone() : done({ id: one.id, text: large(orderId) });
  },
  undo: (ctx) => takeBack(ctx, PAYMENT),
});
