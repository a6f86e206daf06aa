/** One round: it reads the page that the round before named. */

import { done, notDone } from 'steadfast';
import { reserveStock } from '../contracts.ts';
import { CARRIER, check, find, large, make, takeBack } from '../service.ts';

interface Page {
  readonly orderId: string;
  readonly page: number;
  readonly of: number;
}

const nameOf = ({ orderId, page }: Page): string => `${orderId}-${page}`;
const answer = (input: Page) => ({
  page: input.page + 1,
  hasMore: input.page < input.of,
  text: large(nameOf(input)),
});

export const handler = reserveStock.handler({
  execute: async (ctx, input) => {
    check(input.text);
    await make(ctx, CARRIER, nameOf(input));
    return answer(input);
  },
  probe: async (ctx, input) => ((await find(ctx, CARRIER)).length === 0 ? notDone() : done(answer(input))),
  undo: (ctx) => takeBack(ctx, CARRIER),
});
