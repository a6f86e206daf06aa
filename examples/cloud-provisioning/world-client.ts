/**
 * The agents' way to this example's outside world.
 *
 * Owns: where it is, and what a refusal to remove something means. Does not own: what its other
 * answers mean (`../world/client.ts`).
 */

import { type AttemptContext, PermanentError, TransientError } from 'steadfast';
import * as z from 'zod/mini';
import { type WorldRequest, worldAt } from '../world/client.ts';

export const callWorld = worldAt('CLOUD_URL', 'http://127.0.0.1:4542');

/** What is in use now may be free in a moment: a refusal to remove it is not final. */
export async function remove(ctx: Pick<AttemptContext, 'signal'>, request: WorldRequest): Promise<void> {
  try {
    await callWorld(ctx, request, z.unknown());
  } catch (error) {
    throw error instanceof PermanentError ? new TransientError(error.message, { cause: error }) : error;
  }
}
