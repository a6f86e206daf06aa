/**
 * Timers that switch schedules, functions and mappings on again after an outage. Does not own: the switching
 * (schedules.ts, event-source.ts).
 *
 * Invariants
 * - I1 when the time is over, what was switched off is switched on again, even if it was switched off a
 *   second time meanwhile.
 */
import type { Clock } from '../clock.ts';

export class Outages {
  readonly #clock: Clock;
  /** Cancels the end of an outage, by name. */
  readonly #ends = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param forMs if undefined, the outage lasts until `forget` */
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

  /** Cancels the end of an outage that a call ended early. */
  forget(name: string): void {
    this.#ends.get(name)?.();
    this.#ends.delete(name);
  }

  stop(): void {
    for (const cancel of this.#ends.values()) cancel();
    this.#ends.clear();
  }
}
