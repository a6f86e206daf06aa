/**
 * Copies an object to a key that belongs to the step. Idempotent: a retry writes the same bytes there; if the
 * object was replaced meanwhile, it writes the new bytes, and all later steps read those.
 */

import type { AttemptContext } from 'steadfast';
import { readText, remove, write } from '../objects.ts';
import { linesOf } from '../rows.ts';
import { extractObject, PAGE } from '../contracts.ts';

const copyOf = (ctx: AttemptContext): string => `work/${ctx.idempotencyKey}.copy`;

export const handler = extractObject.handler({
  execute: async (ctx, { bucket, key, from }) => {
    const text = await readText(ctx, { bucket, key });
    await write(ctx, { bucket, key: copyOf(ctx) }, text);
    const all = from === undefined ? [] : linesOf(text);
    const names = all.slice(from, (from ?? 0) + PAGE);
    const upTo = (from ?? 0) + names.length;
    return { copy: copyOf(ctx), names, upTo, more: upTo < all.length };
  },
  undo: (ctx, { bucket }) => remove(ctx, { bucket, key: copyOf(ctx) }),
});
