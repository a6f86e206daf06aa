/**
 * Counts the recent deaths of processes for agents' code.
 *
 * Owns: the counts, and how long they are reported. Does not own: who caused a death
 * (`lib/worker/isolated-process.ts`), when an agent gets processes of its own (`workers.ts`).
 */

import { LOST_FRESH_MS, type LostAttempts } from '../lib/core/records/receipts.ts';
import type { WorkerEnds, WorkerTroubles } from '../lib/core/records/worker-ends.ts';

/** The death of a process for agents' code. */
export interface Ended {
  /** The agent at fault, if it is known. */
  readonly agent?: string;
  readonly atWork: readonly string[];
  readonly now: number;
  readonly why: string;
}

export class TroubleBook {
  readonly #lost = new Map<string, LostAttempts>();
  /** Deaths by the agent at fault, or under undefined if it is unknown. */
  readonly #ends = new Map<string | undefined, Omit<WorkerEnds, 'agent' | 'oneOf'>>();
  #atWork = new Map<string, number>();

  lost(agent: string, now: number, known: Pick<LostAttempts, 'why' | 'file' | 'isAlone'>): void {
    const { attempts = 0, since = now } = freshIn(this.#lost, agent, now) ?? {};
    this.#lost.set(agent, { attempts: attempts + 1, since, at: now, ...known });
  }

  ended({ agent, atWork, now, why }: Ended): void {
    const before = freshIn(this.#ends, agent, now);
    this.#ends.set(agent, { times: (before?.times ?? 0) + 1, since: before?.since ?? now, at: now, why });
    if (agent !== undefined) return;
    if (before === undefined) this.#atWork = new Map();
    for (const one of atWork) this.#atWork.set(one, (this.#atWork.get(one) ?? 0) + 1);
  }

  now(now: number): WorkerTroubles {
    const oneOf = [...this.#atWork].toSorted(([, one], [, other]) => other - one).map(([name]) => name);
    const ends = [...this.#ends].filter(([, { at }]) => isFresh(at, now));
    return {
      lost: new Map([...this.#lost].filter(([, { at }]) => isFresh(at, now))),
      ends: ends.map(([agent, one]) => (agent === undefined ? { ...one, oneOf } : { ...one, agent })),
    };
  }
}

const isFresh = (at: number, now: number): boolean => now - at <= LOST_FRESH_MS;

function freshIn<Key, Item extends { readonly at: number }>(
  all: ReadonlyMap<Key, Item>,
  key: Key,
  now: number,
): Item | undefined {
  const found = all.get(key);
  return found !== undefined && isFresh(found.at, now) ? found : undefined;
}
