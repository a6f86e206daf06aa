/**
 * Decides which calls of the API may be repeated, and after which pause.
 *
 * Owns: which failures are temporary (no connection, as during a restart; a gateway's 429, 502, 503, 504; the
 * API's own `busy`, 500 and 503), the backoff, the caller's deadline. Does not own: making a repeated call
 * act once (`typed-client.ts`), waiting for an end (`until-end.ts`).
 *
 * A failure that a repetition cannot change ends the call at once: a refusal, a missing permission, an answer
 * of another program.
 */

/** The clock, and the jitter that keeps callers from repeating all at once. */
export interface Pause {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A random number in [0, 1). */
  readonly random: () => number;
  readonly now: () => number;
}

export const PAUSE: Pause = {
  sleep: (ms, signal) =>
    new Promise((over) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        over();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener('abort', end);
    }),
  random: () => Math.random(),
  now: () => Date.now(),
};

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** The longest pause that a gateway can ask for; after it the call is repeated anyway. */
const LONGEST_WISH_MS = 60_000;

interface Failed {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly retryAfterMs?: unknown;
}

/** `busy`: others are sending to the same execution now. */
const AGAIN: ReadonlySet<string> = new Set(['no-answer', 'unavailable', 'too-many-calls', 'busy']);

/**
 * True if repeating may help. Checks fields, because another copy of the error's class may have created it.
 */
export function isTransient(error: unknown): boolean {
  const { name, code, status } = Object(error) as Failed;
  if (name !== 'ApiError') return false;
  if (typeof code === 'string' && AGAIN.has(code)) return true;
  return typeof code === 'string' && typeof status === 'number' && status >= 500;
}

/** The pause for which the gateway asks, within the limit. */
export const wishOf = (error: unknown): number => {
  const { retryAfterMs } = Object(error) as Failed;
  return typeof retryAfterMs === 'number' ? Math.min(retryAfterMs, LONGEST_WISH_MS) : 0;
};

/**
 * Repeats the call until it is answered, at most for this long.
 * @param pause takes a pause with exponential backoff and full jitter
 */
export async function repeated<R>(call: () => Promise<R>, forMs: number, pause: Pause = PAUSE): Promise<R> {
  const untilAt = pause.now() + forMs;
  for (let failed = 0; ; failed += 1) {
    try {
      return await call();
    } catch (error) {
      const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failed, 10), LONGEST_WAIT_MS);
      const waitMs = wishOf(error) + pause.random() * backoffMs;
      if (!isTransient(error) || pause.now() + waitMs >= untilAt) throw error;
      await pause.sleep(waitMs);
    }
  }
}
