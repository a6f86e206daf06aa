/**
 * The failed calls of one process that are not yet in the record of their agent's breaker.
 *
 * Owns: which write contains which calls, and counting each call once: attempts fail at the same time, and a
 * write may be answered after another attempt has read it. Does not own: when the record is read and written
 * (`breaker.ts`).
 */

import type { FailedCall } from '../core/records/unanswered.ts';

export interface Failed {
  readonly call: FailedCall | undefined;
  /** The failure of a trial is also the trial's outcome. */
  readonly isTrial: boolean;
}

/** What one write contains. */
interface Carried {
  readonly failed: readonly Failed[];
  readonly answered: number;
}

/** At most this many writes are under way at once; beyond that, the earliest is forgotten. */
const MAX_CARRIED = 100;

export class Unwritten {
  #calls: readonly Failed[] = [];
  /** Writes that may or may not have taken place, by write id. */
  readonly #carried = new Map<string, Carried>();

  get calls(): readonly Failed[] {
    return this.#calls;
  }

  add(failed: Failed): void {
    this.#calls = [...this.#calls, failed];
  }

  drop(): void {
    this.#calls = [];
  }

  carry(writeId: string, carried: Carried): void {
    this.#carried.set(writeId, carried);
    const [first] = this.#carried.keys();
    if (first !== undefined && this.#carried.size > MAX_CARRIED) this.#carried.delete(first);
  }

  /**
   * Records that a write with these calls took place. Only the first call for a write counts.
   * @returns how many answered calls the write contained; 0 after the first call
   */
  settle(writeId: string | undefined): number {
    const carried = writeId === undefined ? undefined : this.#carried.get(writeId);
    if (writeId === undefined || carried === undefined) return 0;
    this.#carried.delete(writeId);
    this.#calls = this.#calls.filter((one) => !carried.failed.includes(one));
    return carried.answered;
  }
}
