/** Status machine: messages move an order from status to status, and each status has a time of its own. */

import { agent, isIn, received, workflow } from 'steadfast';
import * as z from 'zod/mini';

const News = z.object({ kind: z.enum(['paid', 'delivered', 'canceled']) });
const Place = z.object({ status: z.string(), waitFor: z.string() });
export const move = agent('move', {
  input: z.object({ message: z.nullable(News), last: z.nullable(Place) }),
  output: Place,
  effect: 'none',
});

export const orderStatus = workflow('order-status', { input: z.object({}), within: '60d' }, (w) => {
  const moves = w.repeat(
    'moves',
    move,
    { message: null, last: null },
    {
      next: received('news', News), // each round begins with the next message `news`
      until: (last) => isIn(last.status, ['delivered', 'canceled']),
      maxRounds: 100,
      within: (last) => last.waitFor, // how long it waits for that
      otherwise: 'continue', // without one in time its message is null
    },
  );
  return { status: moves.output.last.status };
});

const TABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  new: { waitFor: '1h', paid: 'paid', canceled: 'canceled', nothing: 'canceled' },
  paid: { waitFor: '2d', delivered: 'delivered', nothing: 'late' },
  late: { waitFor: '7d', delivered: 'delivered', canceled: 'canceled', nothing: 'canceled' },
};
export const mover = move.handler({
  execute: async (_ctx, { message, last }) => {
    const status = last === null ? 'new' : (TABLE[last.status]?.[message?.kind ?? 'nothing'] ?? last.status);
    return { status, waitFor: TABLE[status]?.['waitFor'] ?? '1h' };
  },
});
