/**
 * The work of the lanes workflow's agents at the example's services, and the large text that they pass on.
 *
 * Owns: one effect, its lookup, its undo; a text that reveals a wrong copy. Both services act on every
 * request. Does not own: those services (`examples/order-fulfilment/world.ts`).
 */

import { createHash } from 'node:crypto';
import type { AttemptContext } from 'steadfast';
import * as z from 'zod/mini';
import { callWorld } from '../../../examples/order-fulfilment/world-client.ts';

const Made = z.object({ id: z.string(), at: z.optional(z.number()), undone: z.boolean() });
export type Made = z.infer<typeof Made>;

export interface Service {
  readonly service: 'payment' | 'carrier';
  readonly kinds: string;
  readonly undo: string;
}

export const PAYMENT: Service = { service: 'payment', kinds: 'charges', undo: 'refund' };
export const CARRIER: Service = { service: 'carrier', kinds: 'shipments', undo: 'cancel' };

export const make = (ctx: AttemptContext, { service, kinds }: Service, orderId: string): Promise<Made> =>
  callWorld(
    ctx,
    {
      method: 'POST',
      path: `/${service}/${kinds}`,
      body: { reference: ctx.idempotencyKey, executionId: ctx.executionId, orderId },
    },
    Made,
  );

/** Finds everything that was made under the attempt's effect key, undone or not. */
export async function find(ctx: AttemptContext, { service, kinds }: Service): Promise<readonly Made[]> {
  const request = {
    method: 'GET',
    path: `/${service}/${kinds}`,
    query: { reference: ctx.idempotencyKey },
  } as const;
  const found = await callWorld(ctx, request, z.record(z.string(), z.array(Made)));
  return found[kinds] ?? [];
}

export async function takeBack(ctx: AttemptContext, at: Service): Promise<void> {
  const path = `/${at.service}/${at.kinds}`;
  for (const { id, undone } of await find(ctx, at))
    if (!undone) await callWorld(ctx, { method: 'POST', path: `${path}/${id}/${at.undo}` }, z.unknown());
}

const HASH_CHARACTERS = 64;
/** Makes the text larger than 32 KB, so that it is stored outside the table. */
const TIMES = 940;

export const large = (of: string): string => createHash('sha256').update(of).digest('hex').repeat(TIMES);

/** @throws if the text was cut, or is made of two texts */
export function check(text: string): void {
  if (text.length === HASH_CHARACTERS * TIMES && text === text.slice(0, HASH_CHARACTERS).repeat(TIMES))
    return;
  throw new Error(`a text of ${text.length} characters is not the one that was handed on`);
}
