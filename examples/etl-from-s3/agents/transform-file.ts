/** Produces rows from a copy that it reads into memory: idempotent, one result for each idempotency key. */

import { readText, remove, write } from '../objects.ts';
import { linesOf, rowOf, written } from '../rows.ts';
import { transformFile } from '../contracts.ts';

const resultOf = ({ idempotencyKey }: { readonly idempotencyKey: string }): string =>
  `work/${idempotencyKey}.ready`;

export const handler = transformFile.handler({
  execute: async (ctx, { bucket, copy }) => {
    const lines = linesOf(await readText(ctx, { bucket, key: copy }));
    const rows = lines.map((line, at) => rowOf(line, at + 1));
    await write(ctx, { bucket, key: resultOf(ctx) }, written(rows));
    return { ready: resultOf(ctx), rows: rows.length };
  },
  undo: (ctx, { bucket }) => remove(ctx, { bucket, key: resultOf(ctx) }),
});
