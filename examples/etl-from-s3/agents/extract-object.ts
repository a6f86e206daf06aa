/**
 * Copies an object to a key of the step's own. Idempotent: a retry writes the same bytes there or, if the
 * object was replaced meanwhile, the bytes that all later steps will read.
 */

import type { AttemptContext } from 'steadfast';
import { readText, remove, write } from '../objects.ts';
import { linesOf } from '../rows.ts';
import { extractObject, type SourceObject } from '../workflow.ts';

const copyOf = (ctx: AttemptContext): string => `work/${ctx.effectKey}.copy`;

export const handler = extractObject.handler({
  execute: async (ctx, { bucket, key }) => {
    const text = await readText(ctx, { bucket, key });
    await write(ctx, { bucket, key: copyOf(ctx) }, text);
    return { copy: copyOf(ctx), names: key.endsWith('.manifest') ? linesOf(text) : [] };
  },
  undo: (ctx, { bucket }: SourceObject) => remove(ctx, { bucket, key: copyOf(ctx) }),
});
