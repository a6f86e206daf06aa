/**
 * Why no write is kept now: for `/health`, and for the log, when it begins and when it is over.
 *
 * Owns: since when. Does not own: which of SQLite's errors means what (`sqlite/trouble.ts`), what is said of
 * it (`lib/core/explain/situation.ts`).
 */

import type { Telemetry } from '../lib/aws/ports.ts';
import type { Clock, StorageTrouble } from '../lib/core/ports.ts';
import type { Failure } from '../lib/core/values/failure.ts';

export class UnkeptWrites {
  readonly #clock: Clock;
  readonly #logger: Telemetry['logger'];
  #trouble: StorageTrouble | undefined;
  readonly #lastsMs: number;
  #failedAt = 0;

  /** @param lastsMs how long the latest failure says something of the disk. @default for ever */
  constructor(clock: Clock, logger: Telemetry['logger'], lastsMs: number = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#logger = logger;
    this.#lastsMs = lastsMs;
  }

  /** Absent while writes are kept. */
  readonly now = (): StorageTrouble | undefined => {
    if (this.#clock.now() - this.#failedAt > this.#lastsMs) this.#trouble = undefined;
    return this.#trouble;
  };

  /** A commit was not made, or a large value not stored. */
  readonly onFailed = (failure: Failure): void => {
    if (this.now() === undefined) this.#logger.error('writes-not-kept', { detail: failure.message });
    this.#failedAt = this.#clock.now();
    this.#trouble = { since: this.#trouble?.since ?? this.#failedAt, failure };
  };

  readonly onCommitted = (): void => {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#logger.info('writes-kept-again');
  };
}
