/**
 * Caches rows that were just written, so that the next write to one need not read it.
 *
 * Owns: how many rows it remembers, and how large they may be. Does not own: the file (`table.ts`). Only this
 * process writes to the file, so the cache is correct until a rollback.
 */

import { type Cell, cellsOf } from './schema.ts';
import type { Item } from './values.ts';

const MOST_ROWS = 1_000;
const MOST_CHARS = 4_096;

interface Place {
  readonly pk: string;
  readonly sk: string;
}

/** A row as it is in the file. Each reader gets its own copy of the item. */
export class Stored {
  readonly pk: string;
  readonly sk: string;
  readonly id: number;
  readonly data: string;
  #cells: readonly Cell[] | undefined;

  constructor({ pk, sk }: Place, id: number, data: string, cells?: readonly Cell[]) {
    this.pk = pk;
    this.sk = sk;
    this.id = id;
    this.data = data;
    this.#cells = cells;
  }

  get item(): Item {
    return JSON.parse(this.data) as Item;
  }

  get cells(): readonly Cell[] {
    return (this.#cells ??= cellsOf(this.item));
  }
}

const keyOf = ({ pk, sk }: Place): string => `${pk.length} ${pk}${sk}`;

export class RecentRows {
  readonly #rows = new Map<string, Stored>();

  get(pk: string, sk: string): Stored | undefined {
    return this.#rows.get(keyOf({ pk, sk }));
  }

  add(row: Stored): void {
    const key = keyOf(row);
    this.#rows.delete(key);
    if (row.data.length > MOST_CHARS) return;
    this.#rows.set(key, row);
    const [oldest] = this.#rows.size > MOST_ROWS ? this.#rows.keys() : [];
    if (oldest !== undefined) this.#rows.delete(oldest);
  }

  remove(row: Stored): void {
    this.#rows.delete(keyOf(row));
  }

  clear(): void {
    this.#rows.clear();
  }
}
