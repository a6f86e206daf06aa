/**
 * Reports why writes fail: to `/health`, and in the log at the first failure, once a minute with the number
 * of refused commits, and at the end. A server writes each minute (`latest-time.ts`).
 *
 * Owns: when the failures began and ended. Does not own: the meaning of SQLite's errors
 * (`sqlite/trouble.ts`), the texts about it (`lib/explain/situation.ts`).
 */

import type { Telemetry } from '../lib/aws/ports.ts';
import type { Clock } from '../lib/core/ports.ts';
import type { StorageTrouble } from '../lib/core/values/server-troubles.ts';
import type { Failure } from '../lib/core/values/failure.ts';

const SAID_EVERY_MS = 60_000;

export class UnkeptWrites {
  readonly #clock: Clock;
  readonly #logger: Telemetry['logger'];
  #trouble: StorageTrouble | undefined;
  readonly #lastsMs: number;
  #failedAt = 0;
  /** The current series of failures: a minute without a failure ends it. */
  #row: { readonly since: number; saidAt: number; refused: number } | undefined;

  /**
   * @param lastsMs how long a failure is reported if no write succeeds or fails after it. @default forever
   */
  constructor(clock: Clock, logger: Telemetry['logger'], lastsMs: number = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#logger = logger;
    this.#lastsMs = lastsMs;
  }

  /** The current trouble; undefined while writes succeed. */
  readonly now = (): StorageTrouble | undefined => {
    if (this.#clock.now() - this.#failedAt > this.#lastsMs) this.#trouble = undefined;
    return this.#trouble;
  };

  /** Called when a commit or storing a large value failed. */
  readonly onFailed = (failure: Failure): void => {
    const now = this.#clock.now();
    this.#endRow(now);
    this.#trouble = { since: this.now()?.since ?? now, failure };
    this.#failedAt = now;
    this.#row ??= { since: now, saidAt: Number.NEGATIVE_INFINITY, refused: 0 };
    this.#row.refused += 1;
    if (now - this.#row.saidAt < SAID_EVERY_MS) return;
    this.#row.saidAt = now;
    this.#logger.error('writes-not-kept', { detail: failure.message, refused: this.#row.refused });
  };

  readonly onCommitted = (): void => {
    this.#trouble = undefined;
    if (this.#row !== undefined) this.#endRow(this.#clock.now());
  };

  /** A nearly full disk accepts small commits: the series ends after a minute without a failure. */
  #endRow(now: number): void {
    if (this.#row === undefined || this.#trouble !== undefined || now - this.#failedAt < SAID_EVERY_MS)
      return;
    const { since, refused } = this.#row;
    this.#row = undefined;
    this.#logger.info('writes-kept-again', { refused, ms: this.#failedAt - since });
  }
}
