/**
 * Waits for the end of an execution, and of an erasure.
 *
 * Owns: how often it asks, and until when. Does not own: the call (`client.ts`), which failures it survives
 * (`again.ts`), how many may wait at the same time (`scheduler/wait.ts`).
 */

import { isTerminal } from '../core/records/state.ts';
import { isTransient, PAUSE, type Pause, repeated, wishOf } from './again.ts';
import type { Erased, ExecutionView } from './answers.ts';
import { ApiError } from './api-error.ts';
import type { WaitForEndOptions } from './call-options.ts';

const FIRST_WAIT = '1s';
export const FIRST_GAP_MS = 250;
export const MAX_GAP_MS = 5_000;
const SLOWER = 1.5;

type Get = (executionId: string, options?: { readonly wait?: string }) => Promise<ExecutionView>;

/**
 * Calls `get` until the execution has ended, and yields each answer; the last is the end. Only the first call
 * waits in the API, because each waiting call keeps a process of its function, and many callers would take
 * them all. Later calls come at growing intervals, but soon after a change. It survives a restart, a
 * deployment or a busy gateway, for as long as the caller wants.
 * @throws ApiError if repeating cannot help; `timeout`; or the reason of the caller's signal
 */
export async function* viewsUntilEnd(
  get: Get,
  executionId: string,
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: WaitForEndOptions = {},
  pause: Pause = PAUSE,
): AsyncGenerator<ExecutionView, void, undefined> {
  const untilAt = pause.now() + timeoutMs;
  let known = '';
  let gapMs = FIRST_GAP_MS;
  for (let asked = 0; ; asked += 1) {
    signal?.throwIfAborted();
    let wishMs = 0;
    const view = await get(executionId, asked === 0 ? { wait: FIRST_WAIT } : undefined).catch(
      (error: unknown) => {
        if (!isTransient(error)) throw error;
        wishMs = wishOf(error);
      },
    );
    if (view !== undefined) yield view;
    if (view !== undefined && isTerminal(view.status)) return;
    const now = view === undefined ? known : JSON.stringify(view);
    gapMs = now === known ? Math.min(gapMs * SLOWER, MAX_GAP_MS) : FIRST_GAP_MS;
    known = now;
    const leftMs = untilAt - pause.now();
    if (leftMs <= 0) throw overTime(executionId, timeoutMs);
    await pause.sleep(Math.min(wishMs + gapMs * (0.5 + pause.random()), leftMs), signal);
  }
}

const overTime = (executionId: string, timeoutMs: number): ApiError =>
  new ApiError(
    'timeout',
    `execution ${executionId} has not ended within ${timeoutMs} ms; it goes on: wait for it again, or ask 'why'`,
  );

/** The last view. */
export async function endOf(
  get: Get,
  executionId: string,
  options?: WaitForEndOptions,
  pause?: Pause,
): Promise<ExecutionView> {
  let end: ExecutionView | undefined;
  for await (const view of viewsUntilEnd(get, executionId, options, pause)) end = view;
  return end as ExecutionView;
}

/**
 * Calls `erase` until nothing is left. If another caller removed the last records, the execution counts as
 * erased.
 */
export async function erasedInFull(
  erase: (executionId: string) => Promise<Erased>,
  executionId: string,
): Promise<Erased> {
  const gone: Erased = { executionId, status: 'erased' };
  let answer = await erase(executionId);
  while (answer.status === 'erasing')
    answer = await repeated(() => erase(executionId), ERASING_MS).catch((error: unknown) => {
      if (codeOf(error) === 'unknown-execution') return gone;
      throw error;
    });
  return answer;
}

/** How long an erasure is continued through a restart. */
const ERASING_MS = 60_000;

const codeOf = (error: unknown): unknown => (Object(error) as { code?: unknown }).code;
