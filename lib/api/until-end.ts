/**
 * How a client waits for the end of an execution, and of an erasure.
 *
 * Owns: how often it asks. Does not own: the call (`client.ts`), how many may wait at the
 * same time (`scheduler/wait.ts`).
 */

import { isTerminal } from '../core/records/state.ts';
import type { Erased, ExecutionView } from './answers.ts';

const FIRST_WAIT_MS = 1_000;
export const FIRST_GAP_MS = 250;
export const MAX_GAP_MS = 5_000;
const SLOWER = 1.5;

type Get = (executionId: string, options?: { readonly waitMs?: number }) => Promise<ExecutionView>;

/** Between two questions: time, and the jitter by which no two callers ask together. */
export interface Pause {
  readonly sleep: (ms: number) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
}

const PAUSE: Pause = {
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};

/**
 * Asks by `get` until the execution has ended, and gives each answer; the last is the end. The API waits with
 * the first question alone: each wait holds a process of its function, and many callers would take them all.
 * Then it is asked ever less often, and soon again after a change.
 */
export async function* viewsUntilEnd(
  get: Get,
  executionId: string,
  { sleep, random }: Pause = PAUSE,
): AsyncGenerator<ExecutionView, void, undefined> {
  let known = '';
  let gapMs = FIRST_GAP_MS;
  for (let asked = 0; ; asked += 1) {
    const view = await get(executionId, asked === 0 ? { waitMs: FIRST_WAIT_MS } : undefined).catch(later);
    if (view !== undefined) yield view;
    if (view !== undefined && isTerminal(view.status)) return;
    const now = view === undefined ? known : JSON.stringify(view);
    gapMs = now === known ? Math.min(gapMs * SLOWER, MAX_GAP_MS) : FIRST_GAP_MS;
    known = now;
    await sleep(gapMs * (0.5 + random()));
  }
}

/** The last of them. */
export async function endOf(get: Get, executionId: string, pause?: Pause): Promise<ExecutionView> {
  let end: ExecutionView | undefined;
  for await (const view of viewsUntilEnd(get, executionId, pause)) end = view;
  return end as ExecutionView;
}

/** Asks by `erase` until nothing is left. Another caller may have taken the last of it. */
export async function erasedInFull(
  erase: (executionId: string) => Promise<Erased>,
  executionId: string,
): Promise<Erased> {
  const gone: Erased = { executionId, status: 'erased' };
  let answer = await erase(executionId);
  while (answer.status === 'erasing')
    answer = await erase(executionId).catch((error: unknown) => {
      if (codeOf(error) === 'unknown-execution') return gone;
      throw error;
    });
  return answer;
}

const codeOf = (error: unknown): unknown => (Object(error) as { code?: unknown }).code;

/** An API that has too much to do for a moment is asked again. */
function later(error: unknown): undefined {
  if (codeOf(error) === 'unavailable') return undefined;
  throw error;
}
