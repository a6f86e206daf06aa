/**
 * A mark in the main file that says: the latest writes are in the log beside it.
 *
 * Owns: the mark, which a copy of the main file alone shows. Does not own: the refusal of it (`file.ts`).
 *
 * SQLite opens such a copy as of its last checkpoint, without a word. So the main file is kept marked, by
 * four bytes that are written past SQLite, and the log has the page without the mark: whoever reads both (a
 * server after `kill -9`, a backup by SQLite's own means) sees none, at any moment. A checkpoint takes the
 * mark away; after the next commit it is there again. A file is marked only when its log is on the disk: a
 * marked file without a log was copied.
 */

import { closeSync, existsSync, fdatasyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type Sqlite from 'libsql';

/** A bit of the number that is the format otherwise. */
const MARK = 0x1_0000;
/** The place of that number in SQLite's main file. */
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
  readonly #checkpointPages: number;
  readonly #bytes = Buffer.alloc(4);

  /** @param checkpointPages as SQLite has it otherwise */
  constructor(db: Sqlite.Database, file: string, format: number, checkpointPages: number) {
    this.#db = db;
    this.#format = format;
    this.#checkpointPages = checkpointPages;
    this.#file = openSync(file, 'r+');
  }

  /** Marks the main file, where a checkpoint has taken the mark away. */
  keep(): void {
    if (!isMarked(this.#inFile() ?? MARK)) this.#mark();
  }

  /** Marks it in any case: all of a new file is in its log. */
  begin(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // On a full disk there is none.
    }
    this.#mark();
  }

  #mark(): void {
    try {
      // The page without the mark is in the log, and stays there: a checkpoint would give it to the file.
      this.#db.exec('PRAGMA wal_autocheckpoint = 0');
      this.#db.exec(`PRAGMA user_version = ${this.#format}`);
      // Too short to be one: a new file whose disk is full.
      if (this.#inFile() === undefined) return;
      this.#bytes.writeUInt32BE(this.#format | MARK);
      writeSync(this.#file, this.#bytes, 0, this.#bytes.length, AT);
      fdatasyncSync(this.#file);
    } catch {
      // On a full disk there is none until the next commit.
    } finally {
      this.#db.exec(`PRAGMA wal_autocheckpoint = ${this.#checkpointPages}`);
    }
  }

  #inFile(): number | undefined {
    const { length } = this.#bytes;
    return readSync(this.#file, this.#bytes, 0, length, AT) === length
      ? this.#bytes.readUInt32BE()
      : undefined;
  }

  close(): void {
    closeSync(this.#file);
  }
}
