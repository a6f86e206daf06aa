/**
 * Things that are switched off for a time, and switched on again when the time ends, even if nobody asks.
 * Does not own: what is switched (schedules.ts, event-source.ts).
 *
 * Invariants
 * - I1 after the time the thing is on, even if it was switched off a second time meanwhile.
 */
import type { Clock } from '../clock.ts';

export class Outages {
  readonly #clock: Clock;
  /** Cancels the end of an outage, by name. */
  readonly #ends = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param forMs without it, the outage lasts until somebody ends it */
  begin(name: string, end: () => void, forMs: number | undefined): void {
    this.forget(name);
    if (forMs === undefined) return;
    if (!(forMs > 0)) throw new Error(`forMs must be a number of milliseconds above 0, got ${String(forMs)}`);
    const cancel = this.#clock.setTimer(forMs, () => {
      this.#ends.delete(name);
      end();
    });
    this.#ends.set(name, cancel);
  }

  /** Forgets an outage that somebody ended early. */
  forget(name: string): void {
    this.#ends.get(name)?.();
    this.#ends.delete(name);
  }

  stop(): void {
    for (const cancel of this.#ends.values()) cancel();
    this.#ends.clear();
  }
}
