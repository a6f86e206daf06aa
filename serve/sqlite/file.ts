/**
 * Opens the SQLite file, locks it and checks its format.
 *
 * Owns: recognizing our files and their format, the durability of commits, and the lock of the one process.
 * Does not own: the rows (`table.ts`), the time of commits (`group.ts`).
 *
 * Invariants
 * - I1 one process: it has `<file>-lock`, a database beside the file, under `BEGIN EXCLUSIVE` as long as it
 *   lives. The operating system releases the lock when the process ends, however it ends. If the lock file
 *   was removed, its process writes nothing more (`in-place.ts`).
 * - I2 a commit is on the disk when it returns: WAL with synchronous=FULL.
 * - I3 an incomplete file, a foreign file and one newer than this code are refused before anything is
 *   written.
 * - I4 a closed file contains no erased data: deleted bytes are overwritten, and the log is empty.
 *
 * Other programs may read the file while it is served (a backup by `sqlite3 <file> '.backup copy'`).
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import Sqlite from 'libsql';
import { InPlace } from './in-place.ts';
import { formatIn, hasLog, isMarked, LogMark } from './log-mark.ts';
import { createTable } from './schema.ts';
import {
  brokenOffFile,
  emptiedFile,
  FileRefused,
  foreignFile,
  isNoRoom,
  newerFile,
  olderFile,
  otherName,
  openElsewhere,
  readOnlyFile,
  refusedFile,
  withoutLog,
} from './trouble.ts';

/** `stdf`: marks an SQLite file as ours. */
const APPLICATION_ID = 0x73746466;
/** The format of the files that this code writes and reads. Raise it when their content changes its form. */
export const FORMAT = 3;
const PAGE_BYTES = 8_192;
/** At this many pages in the log, a commit also moves them into the file (a checkpoint). */
const CHECKPOINT_PAGES = 2_000;
const READ_ONLY: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);
const TRIAL_BYTES = 65_536;
/** A database without a file, whose data ends with the process. */
export const IN_MEMORY = ':memory:';

export interface OpenFile {
  readonly db: Sqlite.Database;
  /** Before each commit. @throws FileRefused if its lock is no longer ours */
  readonly committing: () => void;
  /** After each commit. */
  readonly committed: () => void;
  readonly mayGrow: () => boolean;
  readonly close: () => void;
}

interface OpenOptions {
  readonly mostPages?: number | undefined;
  /** Called once, if the file, its lock or its log was removed or replaced. */
  readonly onRemoved?: (error: Error) => void;
}

/**
 * Opens the file, and makes it readable for this user alone, because it contains inputs and callback tokens.
 * An existing file keeps its mode, which SQLite gives to its log.
 * @throws FileRefused, in a sentence
 */
export function openFile(given: string, options: OpenOptions = {}): OpenFile {
  if (!isMainThread) return openNow(given, options);
  const before = process.umask(0o077);
  try {
    return openNow(given, options);
  } finally {
    process.umask(before);
  }
}

function openNow(given: string, { mostPages, onRemoved = nothing }: OpenOptions): OpenFile {
  if (given === IN_MEMORY) {
    const db = new Sqlite(IN_MEMORY);
    prepare(db, given, true);
    return { db, committing: nothing, committed: nothing, mayGrow: () => true, close: () => db.close() };
  }
  const isEmpty = existsSync(given) && statSync(given).size === 0;
  const file = unlinked(given);
  const lockFile = `${file}-lock`;
  const wasServed = existsSync(lockFile);
  if (isEmpty && !wasServed) throw brokenOffFile(given);
  const lock = locked(file);
  try {
    if (wasServed && (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) throw emptiedFile(given);
    if (existsSync(file) && !isWritable(file)) throw readOnlyFile(given);
    const isWithLog = hasLog(file);
    const db = new Sqlite(file);
    try {
      prepare(db, file, isWithLog);
      // Waits for a commit of a process whose lock was removed; that process detects it at its next commit.
      db.exec('BEGIN IMMEDIATE; COMMIT');
      if (mostPages !== undefined) db.exec(`PRAGMA max_page_count = ${mostPages}`);
      // Syncs the folder: a marked file is expected to have a log, so the log must survive a power cut.
      syncFolder(dirname(file));
    } catch (error) {
      db.close();
      throw error;
    }
    const mark = new LogMark(db, file, FORMAT, CHECKPOINT_PAGES);
    mark.begin();
    const inPlace = new InPlace(file);
    inPlace.every((error, isLogAlone) => {
      if (isLogAlone) takeOverLog(db);
      onRemoved(error);
    });
    const close = (): void => {
      inPlace.end();
      mark.close();
      takeOverLog(db);
      db.close();
      lock.close();
    };
    const committed = (): void => mark.keep();
    return { db, committing: inPlace.checkLock, committed, mayGrow: () => hasRoom(`${file}-room`), close };
  } catch (error) {
    // Removes the lock file before the lock is released, so no other process can have locked it. If the file
    // was served, its lock file stays as the sign of that.
    if (!wasServed) removeIfAllowed(lockFile);
    lock.close();
    if (error instanceof FileRefused) throw error;
    throw hasOtherName(file) ? otherName(given) : refusedFile(given, error);
  }
}

/** Whether the file has a second hard link; false if the file system has none. */
const hasOtherName = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.nlink ?? 1) > 1;

const nothing = (): void => undefined;

/**
 * Resolves a symbolic link, so that lock, log and large values are always beside the real file. If a link's
 * file is missing, it is created, so that the link works.
 * @throws FileRefused
 */
export function unlinked(given: string): string {
  try {
    const isLink = lstatSync(given, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (isLink && !existsSync(given)) closeSync(openSync(given, 'a'));
    return existsSync(given) ? realpathSync(given) : resolve(given);
  } catch (error) {
    throw refusedFile(given, error);
  }
}

/**
 * Moves the log into the file. A closed file is complete without its log; if the disk is full, the log stays
 * beside it.
 */
function takeOverLog(db: Sqlite.Database): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The log has all the content, and the next process reads it there.
  }
}

function locked(file: string): Sqlite.Database {
  let lock: Sqlite.Database | undefined;
  try {
    lock = new Sqlite(`${file}-lock`);
    // The lock file is never written, so it needs no journal file.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    const isTaken = (error as { readonly code?: string }).code?.startsWith('SQLITE_BUSY') === true;
    throw isTaken ? openElsewhere(file) : refusedFile(file, error);
  }
  if (existsSync(`${file}-lock`)) return lock;
  // After this process opened the lock file, another one was refused and removed it.
  lock.close();
  return locked(file);
}

/** Must run before SQLite opens the file: closing the file in this process would drop SQLite's locks. */
function isWritable(file: string): boolean {
  try {
    closeSync(openSync(file, 'r+'));
    return true;
  } catch (error) {
    return !READ_ONLY.has((error as NodeJS.ErrnoException).code ?? '');
  }
}

/** Whether the disk has room for a few commits: writes that much to a trial file. */
function hasRoom(trial: string): boolean {
  try {
    writeFileSync(trial, Buffer.alloc(TRIAL_BYTES), { mode: 0o600 });
    return true;
  } catch (error) {
    return !isNoRoom(error);
  } finally {
    removeIfAllowed(trial);
  }
}

function removeIfAllowed(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The file stays, and is the lock of the next process.
  }
}

function prepare(db: Sqlite.Database, file: string, isWithLog: boolean): void {
  const version = numberIn(db, 'PRAGMA user_version');
  const format = formatIn(version);
  const isNew = format === 0 && numberIn(db, 'SELECT count(*) FROM sqlite_master') === 0;
  if (!isNew && numberIn(db, 'PRAGMA application_id') !== APPLICATION_ID) throw foreignFile(file);
  if (format > FORMAT) throw newerFile(file, format, FORMAT);
  if (!isNew && format < FORMAT) throw olderFile(file, format, FORMAT);
  if (isMarked(version) && !isWithLog) throw hasOtherName(file) ? otherName(file) : withoutLog(file, FORMAT);
  if (isNew) db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  // Overwrites deleted content, which otherwise would stay in free pages.
  db.exec('PRAGMA secure_delete = ON');
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  if (!isNew) return;
  db.exec('BEGIN IMMEDIATE');
  createTable(db);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}; COMMIT`);
}

const numberIn = (db: Sqlite.Database, sql: string): number =>
  Number((db.prepare(sql).raw(true).get() as unknown as [number])[0]);

/** Syncs the folder, because only then does a new file survive a power cut. */
function syncFolder(folder: string): void {
  // A folder cannot be opened on Windows, and its entries are durable by themselves.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
