/**
 * Owns: what is switched off for a time, and switching it on again when the time is over, with nobody left
 * who asks for it. Owns not: what is switched (schedules.ts, event-source.ts).
 *
 * Invariants
 * - I1 what was switched off for a time is on when it is over, also after it was switched off once more.
 */
import type { Clock } from '../clock.ts';

export class Outages {
  readonly #clock: Clock;
  /** Cancels the end of an outage, by name. */
  readonly #ends = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param forMs without it, until it is switched on by hand */
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

  /** It was switched on before its time. */
  forget(name: string): void {
    this.#ends.get(name)?.();
    this.#ends.delete(name);
  }

  stop(): void {
    for (const cancel of this.#ends.values()) cancel();
    this.#ends.clear();
  }
}
