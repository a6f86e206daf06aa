/**
 * The outside world's own book: which effects took place, by effect key. Independent of the state table.
 *
 * Owns: the truth about effects and what of it is wrong. An `idempotent` service has the effect of one key once until it
 * is undone; a `probed` one has it again with every request.
 *
 * S6 no effect twice. S10 no forward effect after its undo began; compensated means that nothing is left.
 */

import type { Effect } from '../../core/agent.ts';

interface Entry {
  live: number;
  performed: number;
  undone: number;
  undoBegan: boolean;
}

export class Ledger {
  readonly #entries = new Map<string, Entry>();
  readonly violations: string[] = [];

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { live: 0, performed: 0, undone: 0, undoBegan: false };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  perform(key: string, effect: Effect): void {
    const entry = this.#entry(key);
    if (entry.undoBegan) this.violations.push(`S10 ${key}: a forward effect after its undo began`);
    if (effect === 'idempotent' && entry.live > 0) return;
    entry.live += 1;
    entry.performed += 1;
    if (entry.performed > 1)
      this.violations.push(`S6 ${key}: the effect took place ${entry.performed} times`);
  }

  /** Bears being called again, as an undo must. */
  undo(key: string): void {
    const entry = this.#entry(key);
    entry.undoBegan = true;
    if (entry.live > 0) entry.undone += 1;
    entry.live = 0;
  }

  isLive(key: string): boolean {
    return (this.#entries.get(key)?.live ?? 0) > 0;
  }
}
