/**
 * Marks the main file while the latest writes are in the log beside it.
 *
 * Owns: the mark, which shows that the main file was copied without its log. Does not own: refusing such a
 * copy (`file.ts`).
 *
 * SQLite would silently open such a copy in the state of its last checkpoint. So four bytes of the main file
 * are written past SQLite as a mark, while the log has the same page without it. A reader of both (a server
 * after `kill -9`, SQLite's own backup) never sees the mark. A checkpoint removes the mark; the next commit
 * restores it. A file is marked only once its log is on the disk, so a marked file without a log is a copy.
 */

import { closeSync, existsSync, fdatasyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type Sqlite from 'libsql';

/** The mark: a bit in the number that stores the format. */
const MARK = 0x1_0000;
/** The offset of that number in SQLite's main file. */
const AT = 60;

export const formatIn = (userVersion: number): number => userVersion & ~MARK;
export const isMarked = (userVersion: number): boolean => (userVersion & MARK) !== 0;

/** Must be called before SQLite opens the file, because that creates a log. */
export const hasLog = (file: string): boolean =>
  existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0;

export class LogMark {
  readonly #db: Sqlite.Database;
  readonly #format: number;
  readonly #file: number;
  readonly #checkpointPages: number;
  readonly #bytes = Buffer.alloc(4);

  /** @param checkpointPages SQLite's setting at other times */
  constructor(db: Sqlite.Database, file: string, format: number, checkpointPages: number) {
    this.#db = db;
    this.#format = format;
    this.#checkpointPages = checkpointPages;
    this.#file = openSync(file, 'r+');
  }

  /** Restores the mark after a checkpoint has removed it. */
  keep(): void {
    if (!isMarked(this.#inFile() ?? MARK)) this.#mark();
  }

  /** Marks the file in any case: the whole content of a new file is in its log. */
  begin(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The disk is full: the file stays without a mark.
    }
    this.#mark();
  }

  #mark(): void {
    try {
      // The page without the mark is in the log, and must stay there: a checkpoint would move it into the
      // file.
      this.#db.exec('PRAGMA wal_autocheckpoint = 0');
      this.#db.exec(`PRAGMA user_version = ${this.#format}`);
      // A new file on a full disk is too short to be marked.
      if (this.#inFile() === undefined) return;
      this.#bytes.writeUInt32BE(this.#format | MARK);
      writeSync(this.#file, this.#bytes, 0, this.#bytes.length, AT);
      fdatasyncSync(this.#file);
    } catch {
      // The disk is full: the next commit tries again.
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
