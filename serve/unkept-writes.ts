/**
 * Why no write is kept now: for `/health`, and for the log, when it begins, once a minute with how many
 * commits were refused, and when it is over.
 *
 * Owns: since when. Does not own: which of SQLite's errors means what (`sqlite/trouble.ts`), what is said of
 * it (`lib/core/explain/situation.ts`).
 */

import type { Telemetry } from '../lib/aws/ports.ts';
import type { Clock, StorageTrouble } from '../lib/core/ports.ts';
import type { Failure } from '../lib/core/values/failure.ts';

const SAID_EVERY_MS = 60_000;

export class UnkeptWrites {
  readonly #clock: Clock;
  readonly #logger: Telemetry['logger'];
  #trouble: StorageTrouble | undefined;
  readonly #lastsMs: number;
  #failedAt = 0;
  #saidAt = Number.NEGATIVE_INFINITY;
  /** Commits since the trouble began. */
  #refused = 0;

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
    const since = this.now()?.since;
    this.#refused = since === undefined ? 1 : this.#refused + 1;
    this.#failedAt = this.#clock.now();
    this.#trouble = { since: since ?? this.#failedAt, failure };
    // A disk that is all but full takes a small commit now and then.
    if (this.#failedAt - this.#saidAt < SAID_EVERY_MS) return;
    this.#saidAt = this.#failedAt;
    this.#logger.error('writes-not-kept', { detail: failure.message, refused: this.#refused });
  };

  readonly onCommitted = (): void => {
    if (this.#trouble === undefined) return;
    const { since } = this.#trouble;
    this.#trouble = undefined;
    if (since > this.#saidAt) return;
    this.#logger.info('writes-kept-again', { refused: this.#refused, ms: this.#clock.now() - since });
  };
}
