/**
 * The outside world's ledger: all effects in order, never changed afterwards.
 *
 * Owns: the entries, on a laptop their file (one JSON line each) and its recovery after a kill. Does not own:
 * what an entry means to a service (`deeds.ts`), where a deployed world stores them (`deployed.ts`), whether
 * the totals are right (an example's audit).
 */

import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

/** The fields of every entry; besides them, what its service was given: an order, an amount. */
export interface Entry {
  readonly seq: number;
  /** Epoch ms, with fractions. */
  readonly at: number;
  readonly service: string;
  /**
   * `charge`, or the kind that undoes it: `refund`. A service that deduplicates also records `repeat`, a
   * repeated request that did nothing, and `misuse`, one with other parameters, which was refused. A `breach`
   * is a request that no correct caller sends, refused as well.
   */
  readonly kind: string;
  readonly id: string;
  /** The caller's reference or idempotency key. */
  readonly reference: string;
  readonly executionId?: string;
  /** A digest of the parameters of a request to a service that deduplicates. */
  readonly parameters?: string;
  /** The id of the entry that this one undoes or repeats. */
  readonly of?: string;
  /** The fault in a `breach`. */
  readonly why?: string;
}

export type NewEntry = Omit<Entry, 'seq' | 'at' | 'id'>;

export class Ledger {
  readonly #entries: Entry[];
  readonly #keep: (entry: Entry) => void;
  readonly #place: string;

  /**
   * @param keep stores an entry durably, before its request is answered
   * @param place part of every id, for a ledger that is one of many
   */
  constructor(entries: readonly Entry[], keep: (entry: Entry) => void, place = '') {
    this.#entries = [...entries];
    this.#keep = keep;
    this.#place = place;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Written before it returns, so before the caller is answered. */
  append(entry: NewEntry): Entry {
    const seq = this.#entries.length + 1;
    const at = performance.timeOrigin + performance.now();
    const written: Entry = { seq, at, id: `${entry.kind}-${this.#place}${seq}`, ...entry };
    this.#keep(written);
    this.#entries.push(written);
    return written;
  }

  find(kind: string, reference: string): readonly Entry[] {
    return this.#entries.filter((entry) => entry.kind === kind && entry.reference === reference);
  }

  byId(kind: string, id: string): Entry | undefined {
    return this.#entries.find((entry) => entry.kind === kind && entry.id === id);
  }

  /** Whether an entry of that kind undoes `id`. */
  has(kind: string, id: string): boolean {
    return this.#entries.some((entry) => entry.kind === kind && entry.of === id);
  }

  /** The entries of a kind that no entry of the other kind undoes. */
  standing(kind: string, undoKind: string): readonly Entry[] {
    const undone = new Set(this.#entries.flatMap((entry) => (entry.kind === undoKind ? [entry.of] : [])));
    return this.#entries.filter((entry) => entry.kind === kind && !undone.has(entry.id));
  }
}

/** The ledger in a file. */
export function ledgerIn(file: string): Ledger {
  mkdirSync(dirname(file), { recursive: true });
  return new Ledger(load(file), (entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`));
}

/**
 * A process that is killed while it writes leaves a torn last line: that request got no answer, so it never
 * happened.
 */
function load(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file);
  const whole = text.lastIndexOf('\n') + 1;
  if (whole < text.length) truncateSync(file, whole);
  const lines = text.subarray(0, whole).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
}
