/**
 * Produces the same rows as `transform-file`, one line at a time: the copy can have any size, because only
 * the rows' text is in memory. Idempotent, one result for each idempotency key.
 */

import { createInterface } from 'node:readline';
import { readStream, remove, write } from '../objects.ts';
import { type Row, rowOf, written } from '../rows.ts';
import { transformByLine } from '../contracts.ts';

const resultOf = ({ idempotencyKey }: { readonly idempotencyKey: string }): string =>
  `work/${idempotencyKey}.ready`;

export const handler = transformByLine.handler({
  execute: async (ctx, { bucket, copy }) => {
    const rows: Row[] = [];
    const lines = createInterface({ input: await readStream(ctx, { bucket, key: copy }) });
    for await (const line of lines) if (line !== '') rows.push(rowOf(line, rows.length + 1));
    await write(ctx, { bucket, key: resultOf(ctx) }, written(rows));
    return { ready: resultOf(ctx), rows: rows.length };
  },
  undo: (ctx, { bucket }) => remove(ctx, { bucket, key: resultOf(ctx) }),
});
