/**
 * The rows of the only table.
 *
 * Owns: reading a row by its key, writing and removing one, rows in the order of a key or an index. Does not
 * own: conditions (`commands.ts`), pages (`pages.ts`), the columns (`schema.ts`).
 *
 * Each statement is prepared once. A write names only the columns that it changes, so that SQLite does not
 * update the other indexes. A row that was just written is not read again before its next write.
 */

import type Sqlite from 'libsql';
import { TABLE, type TableIndex } from '../../lib/aws/names.ts';
import { RecentRows, Stored } from './recent-rows.ts';
import { type Cell, COLUMNS, cellsOf, NONE } from './schema.ts';
import { compareTexts, type Item, measured } from './values.ts';

/** A write that is prepared before its commit. */
export interface Ready {
  readonly pk: string;
  readonly sk: string;
  readonly data: string;
  readonly bytes: number;
  readonly cells: readonly Cell[];
}

/** @throws ValidationException */
export function readyItem(given: Item, pk: string, sk: string): Ready {
  const { item, bytes } = measured(given);
  return { pk, sk, data: JSON.stringify(item), bytes, cells: cellsOf(item) };
}

/** A comparison with the sort key. */
export interface Bound {
  readonly order: '=' | '<' | '<=' | '>' | '>=';
  readonly cell: Cell;
}

export interface Range {
  /** Absent for the table itself. */
  readonly index?: TableIndex | undefined;
  readonly partition: string;
  readonly bounds: readonly Bound[];
  readonly isForward: boolean;
}

/** The place of a row in the order of its range. */
export interface Place {
  readonly pk: string;
  readonly sk: string;
  readonly sort?: Cell;
}

export interface Row extends Place {
  readonly item: Item;
  readonly bytes: number;
}

type Values = readonly Cell[];

/** Whether all rows after the place meet the bound. */
function isBehind({ sk, sort = sk }: Place, { order, cell }: Bound, isForward: boolean): boolean {
  if (sort === null || cell === null || order === '=' || order.startsWith('>') !== isForward) return false;
  const difference = isForward ? compareCells(sort, cell) : compareCells(cell, sort);
  return order.endsWith('=') ? difference >= 0 : difference > 0;
}

const compareCells = (one: string | number, other: string | number): number =>
  typeof one === 'number' ? one - Number(other) : compareTexts(one, String(other));

export class Table {
  readonly #db: Sqlite.Database;
  readonly #prepared = new Map<string, Sqlite.Statement>();
  readonly #read: Sqlite.Statement;
  readonly #insertPlain: Sqlite.Statement;
  readonly #insert: Sqlite.Statement;
  readonly #partition: Sqlite.Statement;
  readonly #remove: Sqlite.Statement;
  readonly #expire: Sqlite.Statement;
  readonly #updates = new Map<number, Sqlite.Statement>();
  readonly #recent = new RecentRows();

  constructor(db: Sqlite.Database) {
    this.#db = db;
    this.#read = db.prepare('SELECT id, data FROM item WHERE pk = ? AND sk = ?').raw(true);
    this.#insertPlain = db.prepare('INSERT OR IGNORE INTO item (pk, sk, data, bytes) VALUES (?, ?, ?, ?)');
    const marks = COLUMNS.map(() => '?').join(', ');
    this.#insert = db.prepare(
      `INSERT OR IGNORE INTO item (pk, sk, data, bytes, ${COLUMNS.join(', ')}) VALUES (?, ?, ?, ?, ${marks})`,
    );
    const few = 'SELECT data, bytes FROM item WHERE pk = ? ORDER BY sk LIMIT ?';
    this.#partition = db.prepare(`SELECT group_concat(data), count(*), total(bytes) FROM (${few})`).raw(true);
    this.#remove = db.prepare('DELETE FROM item WHERE id = ?');
    const due = `SELECT id FROM item WHERE ${TABLE.ttl} <= ? ORDER BY ${TABLE.ttl} LIMIT ?`;
    this.#expire = db.prepare(`DELETE FROM item WHERE id IN (${due})`);
  }

  read(pk: string, sk: string): Stored | undefined {
    const recent = this.#recent.get(pk, sk);
    if (recent !== undefined) return recent;
    const row = this.#read.get(pk, sk) as readonly [number, string] | undefined;
    return row && new Stored({ pk, sk }, row[0], row[1]);
  }

  /** Empties the cache after a rollback. */
  forget(): void {
    this.#recent.clear();
  }

  /** The row with its size. */
  row(pk: string, sk: string): Row | undefined {
    return this.#rows('SELECT pk, sk, data, bytes, sk FROM item WHERE pk = ? AND sk = ?', [pk, sk])[0];
  }

  /** @param before the existing row */
  write(ready: Ready, before: Stored | undefined): void {
    if (before === undefined) this.add(ready);
    else this.#update(before, ready);
  }

  /** Adds the row if there is none. @returns whether it did */
  add(ready: Ready): boolean {
    const { pk, sk, data, bytes, cells } = ready;
    const { changes, lastInsertRowid } =
      cells === NONE
        ? this.#insertPlain.run(pk, sk, data, bytes)
        : this.#insert.run(pk, sk, data, bytes, ...cells);
    if (changes === 1) this.#recent.add(new Stored(ready, Number(lastInsertRowid), data, cells));
    return changes === 1;
  }

  remove(stored: Stored): void {
    this.#recent.remove(stored);
    this.#remove.run(stored.id);
  }

  /** Removes expired items, at most `most` of them. @returns how many */
  expire(untilS: number, most: number): number {
    const { changes } = this.#expire.run(untilS, most);
    if (changes > 0) this.#recent.clear();
    return changes;
  }

  /** Counts the items in partitions of the index, and those whose sort key has this prefix. */
  counted(
    index: Pick<TableIndex, 'pk'>,
    partitions: readonly string[],
    prefix: string,
  ): readonly [number, number] {
    const marks = partitions.map(() => '?').join(', ');
    const sql = `SELECT count(*), total(substr(sk, 1, ?) = ?) FROM item WHERE ${index.pk} IN (${marks})`;
    const statement = this.#statement(sql);
    return statement.get(prefix.length, prefix, ...partitions) as unknown as readonly [number, number];
  }

  /**
   * Open executions in a partition that are due before `dueBefore`, or recorded as at risk from a time up to
   * `at`; at most `most` of them.
   */
  atRisk(partition: string, at: number, dueBefore: number, most: number): Item[] {
    const { pk, sk } = TABLE.wakeIndex;
    const since = ['riskAt', 'riskSince'].map((name) => `CAST(data ->> '$.${name}.N' AS REAL) <= ?`);
    const rows = this.#statement(
      `SELECT data FROM item WHERE ${pk} = ? AND (${sk} < ? OR ${since.join(' OR ')}) ORDER BY ${sk} LIMIT ?`,
    ).all(partition, dueBefore, at, at, most) as unknown as (readonly [string])[];
    return rows.map(([data]) => JSON.parse(data) as Item);
  }

  #update({ id, cells: old }: Stored, ready: Ready): void {
    const { data, bytes, cells } = ready;
    let mask = 0;
    const changed: Cell[] = [];
    for (let at = 0; at < cells.length; at += 1) {
      const cell = cells[at] as Cell;
      if (cell === old[at]) continue;
      mask |= 1 << at;
      changed.push(cell);
    }
    let statement = this.#updates.get(mask);
    if (statement === undefined) {
      const sets = COLUMNS.flatMap((name, at) => ((mask & (1 << at)) === 0 ? [] : [`, ${name} = ?`]));
      statement = this.#db.prepare(`UPDATE item SET data = ?, bytes = ?${sets.join('')} WHERE id = ?`);
      this.#updates.set(mask, statement);
    }
    statement.run(data, bytes, ...changed, id);
    this.#recent.add(new Stored(ready, id, data, cells));
  }

  /**
   * Reads a small partition as one text, in half of the time.
   * @returns undefined if there are more than `most` rows or bytes
   */
  partition(pk: string, most: number, mostBytes: number): readonly Item[] | undefined {
    const [data, count, bytes] = this.#partition.get(pk, most + 1) as unknown as [
      string | null,
      number,
      number,
    ];
    return count > most || bytes > mostBytes ? undefined : (JSON.parse(`[${data ?? ''}]`) as Item[]);
  }

  /** Rows of a range after a place, at most `most` of them. */
  rows({ index, partition, bounds, isForward }: Range, after: Place | undefined, most: number): Row[] {
    const sort = index?.sk ?? TABLE.sk;
    const [next, direction] = isForward ? ['>', 'ASC'] : ['<', 'DESC'];
    const order = index === undefined ? [sort] : [sort, TABLE.pk, TABLE.sk];
    // Leaves out a bound that the place already implies: with both, SQLite would read all rows before the
    // place.
    const open = after === undefined ? bounds : bounds.filter((bound) => !isBehind(after, bound, isForward));
    const conditions = [`${index?.pk ?? TABLE.pk} = ?`, ...open.map((bound) => `${sort} ${bound.order} ?`)];
    const values: Cell[] = [partition, ...open.map(({ cell }) => cell)];
    if (after !== undefined) {
      conditions.push(`(${order.join(', ')}) ${next} (${order.map(() => '?').join(', ')})`);
      values.push(...(index === undefined ? [after.sk] : [after.sort ?? null, after.pk, after.sk]));
    }
    const ordered = order.map((name) => `${name} ${direction}`).join(', ');
    return this.#rows(
      `SELECT pk, sk, data, bytes, ${sort} FROM item WHERE ${conditions.join(' AND ')} ORDER BY ${ordered} LIMIT ?`,
      [...values, most],
    );
  }

  /** Keys of the rows after a place, in order. */
  keys(after: Place | undefined, most: number): readonly (readonly [string, string])[] {
    const where = after === undefined ? '' : 'WHERE (pk, sk) > (?, ?) ';
    const statement = this.#statement(`SELECT pk, sk FROM item ${where}ORDER BY pk, sk LIMIT ?`);
    const values = after === undefined ? [most] : [after.pk, after.sk, most];
    return statement.all(...values) as unknown as (readonly [string, string])[];
  }

  #rows(sql: string, values: Values): Row[] {
    type Raw = readonly [string, string, string, number, Cell];
    const rows = this.#statement(sql).all(...values) as unknown as Raw[];
    return rows.map(([pk, sk, data, bytes, sort]) => ({
      pk,
      sk,
      sort,
      item: JSON.parse(data) as Item,
      bytes,
    }));
  }

  #statement(sql: string): Sqlite.Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql).raw(true);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}
