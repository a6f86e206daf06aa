/**
 * A mark in the main file that says: the latest writes are in the log beside it.
 *
 * Owns: the mark, which a copy of the main file alone shows. Does not own: the refusal of it (`file.ts`).
 *
 * SQLite opens such a copy as of its last checkpoint, without a word. So the main file is kept marked, and
 * the log has the page without the mark: whoever reads both (a server after `kill -9`, a backup by SQLite's
 * own means) sees none. A checkpoint takes the mark away; after the next commit it is there again. A file is
 * marked only when its log is on the disk: a marked file without a log was copied.
 */

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import type Sqlite from 'libsql';

/** A bit of the number that is the format otherwise. */
const MARK = 0x1_0000;
/** Where SQLite has that number in the main file. */
const AT = 60;

export const formatIn = (userVersion: number): number => userVersion & ~MARK;
export const isMarked = (userVersion: number): boolean => (userVersion & MARK) !== 0;

/** Asked before SQLite opens the file, which makes a log. */
export const hasLog = (file: string): boolean =>
  existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0;

export class LogMark {
  readonly #db: Sqlite.Database;
  readonly #format: number;
  readonly #file: number;
  readonly #read = Buffer.alloc(4);

  constructor(db: Sqlite.Database, file: string, format: number) {
    this.#db = db;
    this.#format = format;
    this.#file = openSync(file, 'r');
  }

  /** Marks the main file, where a checkpoint has taken the mark away. */
  keep(): void {
    readSync(this.#file, this.#read, 0, this.#read.length, AT);
    if (isMarked(this.#read.readUInt32BE())) return;
    try {
      this.#db.exec(`PRAGMA user_version = ${this.#format | MARK}`);
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // On a full disk there is none until the next commit.
    } finally {
      this.#clear();
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #clear(): void {
    try {
      this.#db.exec(`PRAGMA user_version = ${this.#format}`);
    } catch {
      // A full disk: then the mark is in the log as well, and a log is there.
    }
  }
}
