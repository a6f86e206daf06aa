/**
 * The outside world's memory: what was really done, in order, never changed afterwards.
 *
 * Owns: the entries, on a laptop their file (one JSON line each) and its recovery after a kill. Does not own:
 * what an entry means to a service (`deeds.ts`), where a deployed world keeps them (`deployed.ts`), whether
 * the sum of them is right (an example's audit).
 */

import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

/** What every entry has; beside it what its service was given: an order, an amount. */
export interface Entry {
  readonly seq: number;
  /** Epoch ms, with fractions. */
  readonly at: number;
  readonly service: string;
  /**
   * `charge`, or what takes one back: `refund`. Of a service that deduplicates also `repeat`: it was asked
   * again and did nothing, and `misuse`: with other parameters, and refused. A `breach` is a request that
   * no sound caller makes, refused as well.
   */
  readonly kind: string;
  readonly id: string;
  /** The caller's reference or idempotency key. */
  readonly reference: string;
  readonly executionId?: string;
  /** A digest of what a service that deduplicates was asked for. */
  readonly parameters?: string;
  /** The id of the entry that this one takes back or repeats. */
  readonly of?: string;
  /** What is wrong with a `breach`. */
  readonly why?: string;
}

export type NewEntry = Omit<Entry, 'seq' | 'at' | 'id'>;

export class Ledger {
  readonly #entries: Entry[];
  readonly #keep: (entry: Entry) => void;
  readonly #place: string;

  /**
   * @param keep what makes an entry last, before anybody is answered
   * @param place in every id, of a ledger that is one of many
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

  /** Whether an entry of that kind takes `id` back. */
  has(kind: string, id: string): boolean {
    return this.#entries.some((entry) => entry.kind === kind && entry.of === id);
  }

  /** What was done of a kind, and nothing of the other kind takes back. */
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
 * A process killed while it wrote leaves a torn last line: that request got no answer, so it never happened.
 */
function load(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file);
  const whole = text.lastIndexOf('\n') + 1;
  if (whole < text.length) truncateSync(file, whole);
  const lines = text.subarray(0, whole).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
}
