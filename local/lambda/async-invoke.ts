/**
 * Asynchronous invocation (EventBridge, schedules): retries after one and two minutes, maximum age.
 *
 * Invariants
 * - I1 an event is given up, and reported, only after its retries or its maximum age are used up.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { LocalFunction } from './local-function.ts';

/** The parts of a function that an asynchronous invocation uses. */
export type AsyncTarget = Pick<LocalFunction, 'invoke' | 'spec'>;

const RETRY_AFTER_MS = [60_000, 120_000];

export class AsyncInvoker {
  readonly #clock: Clock;
  readonly #onGivenUp: (message: string) => void;
  readonly #pending = new Set<() => void>();
  #stopped = false;

  constructor(clock: Clock, onGivenUp: (message: string) => void) {
    this.#clock = clock;
    this.#onGivenUp = onGivenUp;
  }

  /** Resolves after the first try; retries continue in the background. */
  async invoke(local: AsyncTarget, payload: string): Promise<void> {
    await this.#attempt(local, payload, randomUUID(), this.#clock.now(), 0);
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#pending) cancel();
    this.#pending.clear();
  }

  async #attempt(
    local: AsyncTarget,
    payload: string,
    id: string,
    since: number,
    attempt: number,
  ): Promise<void> {
    const result = await local.invoke(payload, id);
    if (result.ok || this.#stopped) return;
    const { asyncRetries, asyncMaxAgeMs, functionName } = local.spec;
    const delayMs = RETRY_AFTER_MS[attempt];
    const isTooOld = delayMs !== undefined && this.#clock.now() + delayMs - since > asyncMaxAgeMs;
    if (attempt >= asyncRetries || delayMs === undefined || isTooOld) {
      this.#onGivenUp(`${functionName}: an asynchronous event failed for good: ${result.error.errorMessage}`);
      return;
    }
    const cancel = this.#clock.setTimer(delayMs, () => {
      this.#pending.delete(cancel);
      void this.#attempt(local, payload, id, since, attempt + 1);
    });
    this.#pending.add(cancel);
  }
}
