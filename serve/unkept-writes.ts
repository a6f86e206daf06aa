/**
 * Why no write is kept now: for `/health`, and for the log, where it begins and where it is over.
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

  constructor(clock: Clock, logger: Telemetry['logger']) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Absent while writes are kept. */
  readonly now = (): StorageTrouble | undefined => this.#trouble;

  /** A commit was not made. */
  readonly onFailed = (failure: Failure): void => {
    if (this.#trouble === undefined) this.#logger.error('writes-not-kept', { detail: failure.message });
    this.#trouble = { since: this.#trouble?.since ?? this.#clock.now(), failure };
  };

  readonly onCommitted = (): void => {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#logger.info('writes-kept-again');
  };
}
