/**
 * The outside world's own book: which effects took place, by effect key and by the service that performed them.
 * Independent of the state table.
 *
 * Owns: the truth about effects and what of it is wrong. An `idempotent` service has the effect of one key once until it
 * is undone; any other has it again with every request.
 *
 * S6 no effect twice, at no service. S10 no forward effect after its undo began; compensated means that nothing is left.
 */

import type { Effect } from '../../core/agent.ts';

interface Entry {
  /** By service: effects in place. */
  readonly live: Map<string, number>;
  performed: number;
  undoBegan: boolean;
}

export class Ledger {
  readonly #entries = new Map<string, Entry>();
  readonly violations: string[] = [];

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { live: new Map(), performed: 0, undoBegan: false };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  perform(key: string, service: string, effect: Effect): void {
    const entry = this.#entry(key);
    if (entry.undoBegan) this.violations.push(`S10 ${key}: a forward effect after its undo began`);
    const live = entry.live.get(service) ?? 0;
    if (effect === 'idempotent' && live > 0) return;
    entry.live.set(service, live + 1);
    entry.performed += 1;
    if (entry.performed > 1)
      this.violations.push(`S6 ${key}: the effect took place ${entry.performed} times`);
  }

  /** Bears being called again, as an undo must. */
  undo(key: string, service: string): void {
    const entry = this.#entry(key);
    entry.undoBegan = true;
    entry.live.delete(service);
  }

  /** A person undoes by hand whatever there is. */
  undoByHand(key: string): void {
    const entry = this.#entry(key);
    entry.undoBegan = true;
    entry.live.clear();
  }

  /** @param service one of them, or any */
  isLive(key: string, service?: string): boolean {
    const live = this.#entries.get(key)?.live;
    if (live === undefined) return false;
    return service === undefined ? live.size > 0 : live.has(service);
  }
}
