/**
 * Reconstructs the state of an index a few seconds ago, because an index lags behind its table.
 *
 * Owns: the replaced states, kept as long as an index may lag. Does not own: how far it lags (`world.ts`),
 * which states an index contains (`lib/memory/table.ts`).
 */

import type { Snapshot } from '../../lib/core/records/snapshot.ts';

/** The longest that an index may lag. */
export const MOST_LAG_MS = 5_000;

interface Replaced {
  readonly at: number;
  readonly id: string;
  /** Absent before the first write of an execution. */
  readonly state: Snapshot | undefined;
}

export class IndexHistory {
  /** Oldest first. */
  #replaced: Replaced[] = [];

  replaced(at: number, id: string, state: Snapshot | undefined): void {
    const first = this.#replaced[0];
    if (first !== undefined && first.at < at - 2 * MOST_LAG_MS)
      this.#replaced = this.#replaced.filter((one) => one.at >= at - MOST_LAG_MS);
    this.#replaced.push({ at, id, state });
  }

  /** Every execution's state at that time. */
  asOf(at: number, now: Iterable<Snapshot>): Snapshot[] {
    const changed = new Map<string, Snapshot | undefined>();
    for (const one of this.#replaced) if (one.at > at && !changed.has(one.id)) changed.set(one.id, one.state);
    const unchanged = [...now].filter(({ execution }) => !changed.has(execution.id));
    return [...unchanged, ...[...changed.values()].filter((state) => state !== undefined)];
  }
}
