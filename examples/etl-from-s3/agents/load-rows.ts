/**
 * Loads rows into a warehouse that does NOT deduplicate: two requests are two loads, with every row twice.
 *
 * The probe makes it safe: each load has the step's idempotency key as its label, and exists whole or not at
 * all. Its source and version say what was loaded: the warehouse counts only the latest load of a source, so
 * another execution that loads the same file changes nothing, and dropping its load changes nothing either.
 */

import { createHash } from 'node:crypto';
import { type AttemptContext, done, notDone } from 'steadfast';
import * as z from 'zod/mini';
import { readText } from '../objects.ts';
import { read } from '../rows.ts';
import { askWarehouse } from '../warehouse-client.ts';
import { loadRows } from '../contracts.ts';

const Load = z.object({ id: z.string(), rows: z.int(), dropped: z.boolean() });
const Loads = z.object({ loads: z.array(Load) });

const loadsOf = async (ctx: AttemptContext): Promise<readonly z.infer<typeof Load>[]> => {
  const request = { method: 'GET', path: '/warehouse/loads', query: { label: ctx.idempotencyKey } } as const;
  return (await askWarehouse(ctx, request, Loads)).loads;
};

export const handler = loadRows.handler({
  execute: async (ctx, { bucket, ready, source }) => {
    const text = await readText(ctx, { bucket, key: ready });
    const version = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const body = { label: ctx.idempotencyKey, source, version, rows: read(text) };
    const load = await askWarehouse(ctx, { method: 'POST', path: '/warehouse/loads', body }, Load);
    return { load: load.id, rows: load.rows };
  },
  probe: async (ctx) => {
    const [load] = await loadsOf(ctx);
    return load === undefined ? notDone() : done({ load: load.id, rows: load.rows });
  },
  /** Drops by label, not by output: this also drops the load of an attempt with an unknown outcome. */
  undo: async (ctx) => {
    const standing = (await loadsOf(ctx)).filter(({ dropped }) => !dropped);
    for (const { id } of standing)
      await askWarehouse(ctx, { method: 'DELETE', path: `/warehouse/loads/${id}` }, z.unknown());
  },
});
