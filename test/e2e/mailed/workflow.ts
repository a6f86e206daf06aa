/** An order that waits for its payment, is shipped by an agent, and may be rated. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Paid = z.object({ amount: z.number() });

export const shipGoods = agent('ship-goods', {
  input: Paid,
  output: z.object({ shipped: z.number() }),
  effect: 'idempotent',
  undo: 'none',
});

export const mailed = workflow('mailed', { input: z.object({ orderId: z.string() }), within: '5m' }, (w) => {
  const paid = w.receive('paid', { message: Paid, within: '2m' });
  const ship = w.step('ship', shipGoods, { amount: paid.output.amount });
  const rated = w.receive('rated', {
    message: z.string(),
    within: '2m',
    otherwise: 'continue',
    after: [ship],
  });
  return { shipped: ship.output.shipped, rated: rated.output };
});
