/**
 * Publishes in a catalogue that does NOT deduplicate: two requests are two pages. So every page carries the
 * step's idempotency key as its reference; the probe finds the page by it, and the undo takes the page down.
 */

import { type AttemptContext, done, notDone } from 'steadfast';
import * as z from 'zod/mini';
import { publishFilm } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Page = z.object({ id: z.string(), undone: z.boolean() });
const Pages = z.object({ pages: z.array(Page) });

const standing = async (ctx: AttemptContext): Promise<readonly z.infer<typeof Page>[]> => {
  const query = { reference: ctx.idempotencyKey };
  const { pages } = await callWorld(ctx, { method: 'GET', path: '/catalogue/pages', query }, Pages);
  return pages.filter(({ undone }) => !undone);
};

export const handler = publishFilm.handler({
  execute: async (ctx, { title, segments }) => {
    const body = { reference: ctx.idempotencyKey, executionId: ctx.executionId, title, segments };
    const { id } = await callWorld(ctx, { method: 'POST', path: '/catalogue/pages', body }, Page);
    return { page: id };
  },
  probe: async (ctx) => {
    const [page] = await standing(ctx);
    return page === undefined ? notDone() : done({ page: page.id });
  },
  undo: async (ctx) => {
    for (const { id } of await standing(ctx))
      await callWorld(ctx, { method: 'POST', path: `/catalogue/pages/${id}/take-down` }, z.unknown());
  },
});
