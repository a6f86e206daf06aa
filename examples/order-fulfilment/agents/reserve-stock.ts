/**
 * Reserves stock at a warehouse that deduplicates by key: repeated requests reserve once.
 *
 * No probe is needed: a repeated request with the same idempotency key returns the first one's result.
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

/** The warehouse accepts a release of stock that was never reserved, or was released before. */
export async function undo(ctx: AttemptContext): Promise<void> {
  await callWorld(
    ctx,
    { method: 'DELETE', path: '/warehouse/reservations', query: { key: ctx.idempotencyKey } },
    z.unknown(),
  );
}

export const handler = reserveStock.handler({ execute, undo });
