/**
 * Grace for leases in the wake of an outage.
 *
 * Owns: how a supervisor's process notices that the store, or every supervisor, was away, and from when on leases count
 * that could not be renewed meanwhile. Does not own: when such a lease is over (`core/watch.ts`).
 *
 * Without it the first sweep after an outage would take every attempt for dead although the agents are alive and only
 * could not say so: all of them would be probed or done again at once.
 */

import type { ShardSweep } from './supervisor.ts';

/** Nothing is overdue for so long while there are ticks: two of them, so that one that fails is no outage. */
const OUTAGE_MS = 120_000;
/** So many looks of a sweep have failed, and half of all: that is the store, not a poisonous item. */
const MIN_FAILED = 3;

/** What a process of the supervisor remembers from sweep to sweep. */
export class Grace {
  #goodAt: number | undefined;
  #troubled = false;
  #from: number | undefined;

  /** Before the looks at what was found. @returns since when the store answers again, if it was away of late */
  from(now: number, oldestOverdueMs: number): number | undefined {
    const unswept = this.#goodAt === undefined || now - this.#goodAt > OUTAGE_MS;
    if (this.#troubled || (unswept && oldestOverdueMs > OUTAGE_MS)) {
      this.#from = now;
      this.#troubled = false;
      this.#goodAt = now;
    }
    return this.#from;
  }

  swept(now: number, sweeps: readonly ShardSweep[]): void {
    // More failures than items: the index itself did not answer.
    const unread = sweeps.some(({ due, failed }) => failed > due);
    const due = sweeps.reduce((sum, sweep) => sum + sweep.due, 0);
    const failed = sweeps.reduce((sum, sweep) => sum + sweep.failed, 0);
    this.#troubled = unread || (failed >= MIN_FAILED && failed * 2 >= due);
    if (!this.#troubled) this.#goodAt = now;
  }
}
