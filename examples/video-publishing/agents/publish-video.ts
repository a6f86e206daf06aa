/**
 * Publishes in a catalogue that does NOT deduplicate: two requests are two pages. So every page carries the step's effect
 * key as its reference, by which a probe finds it and an undo takes it down.
 */

import { done, notDone } from 'steadfast';
import { publishVideo } from '../workflow.ts';
import { catalogue, published, record } from '../library.ts';

export const handler = publishVideo.handler({
  execute: async (ctx, { title }) => {
    const page = `/videos/${(await catalogue()).length + 1}`;
    await record({ page, title, reference: ctx.effectKey });
    return { page };
  },
  probe: async (ctx) => {
    const [entry] = await published(ctx.effectKey);
    return entry === undefined ? notDone() : done({ page: entry.page });
  },
  undo: async (ctx) => {
    for (const { page } of await published(ctx.effectKey)) {
      await record({ page, reference: ctx.effectKey, takenDown: true });
    }
  },
});
