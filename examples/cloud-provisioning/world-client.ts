/**
 * The agents' client for this example's outside world.
 *
 * Owns: its address, and what a refused removal means. Does not own: what its other answers mean
 * (`../world/client.ts`).
 */

import { type AttemptContext, PermanentError, TransientError } from 'steadfast';
import * as z from 'zod/mini';
import { type WorldRequest, worldAt } from '../world/client.ts';

export const callWorld = worldAt('CLOUD_URL', 'http://127.0.0.1:4542');

/** A resource in use may be free a moment later, so a refused removal is not final. */
export async function remove(ctx: Pick<AttemptContext, 'signal'>, request: WorldRequest): Promise<void> {
  try {
    await callWorld(ctx, request, z.unknown());
  } catch (error) {
    throw error instanceof PermanentError ? new TransientError(error.message, { cause: error }) : error;
  }
}
