/**
 * The warehouse: rows in SQLite, in one file.
 *
 * Owns: storing a load's rows completely or not at all, adding a load for every request, and counting only
 * the latest load of each source. Does not own: the requests (`world.ts`).
 *
 * A batch that runs again, or a manifest that is written again, loads a source again: its rows replace those
 * of the earlier load, and if they are dropped, the earlier rows count again.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import initSqlJs, { type Database, type ParamsObject, type SqlValue } from 'sql.js';
import type { Row } from './rows.ts';

const TABLES = `
  CREATE TABLE IF NOT EXISTS loads (
    id INTEGER PRIMARY KEY, label TEXT NOT NULL, source TEXT NOT NULL, version TEXT NOT NULL, rows INTEGER NOT NULL,
    drops INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS sales (
    load INTEGER NOT NULL REFERENCES loads, receipt TEXT NOT NULL, till TEXT NOT NULL, cents INTEGER NOT NULL, day TEXT NOT NULL
  );
`;

/** The rows of each source's latest load that was not dropped. */
const COUNTED = `
  SELECT receipt, till, cents, day FROM sales
  WHERE load IN (SELECT MAX(id) FROM loads WHERE drops = 0 GROUP BY source)
  ORDER BY receipt, till, cents, day
`;

export interface NewLoad {
  readonly label: string;
  readonly source: string;
  readonly version: string;
  readonly rows: readonly Row[];
}

/** A load as the warehouse records it, even after its rows were dropped. */
export interface Load {
  readonly id: string;
  readonly label: string;
  readonly source: string;
  /** The version of the source's content: the same bytes are the same version. */
  readonly version: string;
  readonly rows: number;
  /** How often it was dropped. */
  readonly drops: number;
}

export class Warehouse {
  readonly #database: Database;
  readonly #file: string;

  private constructor(database: Database, file: string) {
    this.#database = database;
    this.#file = file;
  }

  static async open(file: string): Promise<Warehouse> {
    const { Database } = await initSqlJs();
    mkdirSync(dirname(file), { recursive: true });
    const database = existsSync(file) ? new Database(readFileSync(file)) : new Database();
    database.run(TABLES);
    return new Warehouse(database, file);
  }

  /** Adds a load, whatever its label: a repeated request is a second load. */
  load({ label, source, version, rows }: NewLoad): Load {
    return this.#transaction(() => {
      this.#database.run('INSERT INTO loads (label, source, version, rows) VALUES (?, ?, ?, ?)', [
        label,
        source,
        version,
        rows.length,
      ]);
      const [{ id } = { id: 0 }] = this.#all('SELECT last_insert_rowid() AS id');
      const insert = this.#database.prepare('INSERT INTO sales VALUES (?, ?, ?, ?, ?)');
      for (const { receipt, till, cents, day } of rows)
        insert.run([id as SqlValue, receipt, till, cents, day]);
      insert.free();
      return { id: String(id), label, source, version, rows: rows.length, drops: 0 };
    });
  }

  /** @returns whether there is such a load */
  drop(id: string): boolean {
    return this.#transaction(() => {
      this.#database.run('DELETE FROM sales WHERE load = ?', [id]);
      this.#database.run('UPDATE loads SET drops = drops + 1 WHERE id = ?', [id]);
      return this.#database.getRowsModified() === 1;
    });
  }

  /** All loads, in the order in which they were added. */
  loads(): Load[] {
    return this.#all('SELECT * FROM loads ORDER BY id').map(
      ({ id, ...load }) => ({ ...load, id: String(id) }) as unknown as Load,
    );
  }

  /** The rows of the counted loads, sorted by content. */
  rows(): Row[] {
    return this.#all(COUNTED) as unknown as Row[];
  }

  close(): void {
    this.#database.close();
  }

  #all(query: string): ParamsObject[] {
    const statement = this.#database.prepare(query);
    const found: ParamsObject[] = [];
    while (statement.step()) found.push(statement.getAsObject());
    statement.free();
    return found;
  }

  /** Commits the change to the file before it returns, so before any request is answered. */
  #transaction<Result>(change: () => Result): Result {
    this.#database.run('BEGIN');
    let result: Result;
    try {
      result = change();
    } catch (error) {
      this.#database.run('ROLLBACK');
      throw error;
    }
    this.#database.run('COMMIT');
    const next = `${this.#file}.next`;
    writeFileSync(next, this.#database.export());
    renameSync(next, this.#file);
    return result;
  }
}
