/**
 * Grace for leases after an outage.
 *
 * Owns: how a supervisor's process notices that the store, or every supervisor, was away, and when leases
 * that could not be renewed meanwhile begin to count again. Does not own: when such a lease is over
 * (`core/supervision/wake-time.ts`).
 *
 * Without this, the first sweep after an outage would take every attempt for dead, although the agents are
 * alive and only could not reach the store. All would be probed or repeated at once.
 */

import type { Away } from '../core/values/away.ts';
import type { NewlyLost } from '../core/records/receipts.ts';

export interface Sweep {
  /** How many items were due. */
  readonly due: number;
  /** How many items could not be handled. */
  readonly failed: number;
  /** How long the oldest was overdue, in ms. */
  readonly oldestOverdueMs: number;
  /** True if an execution is due before the tick's end, now or later. */
  readonly busy: boolean;
}

export interface ShardSweep extends Sweep {
  readonly shard: number;
  /** By agent that is not deployed: the executions that had a message for it. */
  readonly missing?: Missing;
  /** Attempts whose leases were ended because their processes went silent, by agent. */
  readonly lost?: Lost;
}

export type Lost = ReadonlyMap<string, NewlyLost>;
export type Missing = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * With regular ticks nothing is overdue for this long: two ticks, so that one failed tick is not an outage.
 */
const OUTAGE_MS = 120_000;
/**
 * The shortest outage that counts: a shorter one costs no lease, because every heartbeat is tried again
 * before the lease ends.
 */
const SHORTEST_MS = 3_000;
/** If this many evaluations of a sweep fail, and half of all, the store is the cause, not a single item. */
const MIN_FAILED = 3;

/** If there are more, the two oldest are merged: an attempt that began between them gets too much time. */
const MOST_AWAY = 10;

/** A supervisor's process remembers this from sweep to sweep. */
export class Grace {
  #goodAt: number | undefined;
  #badSince: number | undefined;
  #since: number | undefined;
  #away: readonly Away[] = [];

  /** The time from which the store has answered again, if it was away recently. */
  get since(): number | undefined {
    return this.#since;
  }

  /** Call before the evaluations of a page of the index. @returns true if an outage has just ended */
  begins(now: number, oldestOverdueMs: number): boolean {
    const unswept = this.#goodAt === undefined || now - this.#goodAt > OUTAGE_MS;
    const wasAway = this.#badSince !== undefined && now - this.#badSince >= SHORTEST_MS;
    if (!wasAway && !(unswept && oldestOverdueMs > OUTAGE_MS)) return false;
    this.#since = now;
    this.#badSince = undefined;
    this.#goodAt = now;
    return true;
  }

  /**
   * Notes that a clock was set forward, or that all attempts were stopped: leases could not be renewed in
   * that time, so no attempt is charged with it.
   */
  wasAway(now: number, ms: number): void {
    this.#since = now;
    const all = [...this.#away, { untilAt: now, ms }];
    const [first, second, ...others] = all;
    this.#away =
      first === undefined || second === undefined || all.length <= MOST_AWAY
        ? all
        : [{ untilAt: second.untilAt, ms: first.ms + second.ms }, ...others];
  }

  get away(): readonly Away[] {
    return this.#away;
  }

  swept(now: number, sweeps: readonly ShardSweep[]): void {
    if (isBad(sweeps)) {
      this.#badSince ??= now;
    } else {
      this.#badSince = undefined;
      this.#goodAt = now;
    }
  }
}

/**
 * True for a bad sweep: no shard could be read (then there are more failures than items), or half of the
 * evaluations failed.
 */
function isBad(sweeps: readonly ShardSweep[]): boolean {
  const read = sweeps.filter(({ due, failed }) => failed <= due);
  const due = read.reduce((sum, sweep) => sum + sweep.due, 0);
  const failed = read.reduce((sum, sweep) => sum + sweep.failed, 0);
  return read.length === 0 || (failed >= MIN_FAILED && failed * 2 >= due);
}
