/**
 * Reserves stock at a warehouse that deduplicates by key: however often it is asked, it reserves once.
 *
 * No probe is needed. Asking again with the same idempotency key is the question and the answer at the same
 * time.
 */

import type { AttemptContext } from 'steadfast';
import * as z from 'zod/mini';
import { type ReserveInput, type ReserveOutput, reserveStock } from '../contracts.ts';
import { callWorld } from '../world-client.ts';

const Reservation = z.object({ id: z.string() });

export async function execute(ctx: AttemptContext, input: ReserveInput): Promise<ReserveOutput> {
  const reservation = await callWorld(
    ctx,
    {
      method: 'POST',
      path: '/warehouse/reservations',
      body: { key: ctx.idempotencyKey, executionId: ctx.executionId, ...input },
    },
    Reservation,
  );
  return { reservationId: reservation.id };
}

/** Releasing what was never reserved, or was released before, is fine with the warehouse. */
export async function undo(ctx: AttemptContext): Promise<void> {
  await callWorld(
    ctx,
    { method: 'DELETE', path: '/warehouse/reservations', query: { key: ctx.idempotencyKey } },
    z.unknown(),
  );
}

export const handler = reserveStock.handler({ execute, undo });
