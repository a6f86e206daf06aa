/**
 * How a client waits for the end of an execution.
 *
 * Owns: how often it asks. Does not own: the call (`client.ts`).
 */

import { isTerminal } from '../core/records/state.ts';
import type { ExecutionView } from './answers.ts';

const FIRST_WAIT_MS = 1_000;
const FIRST_GAP_MS = 250;
const MAX_GAP_MS = 5_000;

type Get = (executionId: string, options?: { readonly waitMs?: number }) => Promise<ExecutionView>;

/**
 * Asks by `get` until the execution has ended. The API waits with the first question alone: each wait holds a process of its
 * function, and many callers would take them all. Then it is asked ever less often, at times that no two callers share.
 */
export async function endOf(get: Get, executionId: string): Promise<ExecutionView> {
  const first = await get(executionId, { waitMs: FIRST_WAIT_MS });
  if (isTerminal(first.status)) return first;
  for (let gapMs = FIRST_GAP_MS; ; gapMs = Math.min(gapMs * 1.5, MAX_GAP_MS)) {
    await new Promise((resolve) => setTimeout(resolve, gapMs * (0.5 + Math.random())));
    const view = await get(executionId).catch(later);
    if (view !== undefined && isTerminal(view.status)) return view;
  }
}

/** An API that has too much to do for a moment is asked again. */
function later(error: unknown): undefined {
  if ((Object(error) as { code?: unknown }).code === 'unavailable') return undefined;
  throw error;
}
