/**
 * Describes errors of the file in sentences.
 *
 * Owns: the meaning of each of SQLite's errors, and whether a retry may help. Does not own: DynamoDB's own
 * refusals (`refusals.ts`), what happens to the commands (`group.ts`).
 */

import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';

/** An error of libsql, known by its fields because `instanceof` fails for a class of another realm. */
interface SqliteError {
  readonly code?: string;
  readonly message?: string;
}

const codeOf = (error: unknown): string => (error as SqliteError | undefined)?.code ?? '';

/** The file cannot be served: the process reports this and ends. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}

/** The operating system's codes. */
const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
export const isNoRoom = (error: unknown): boolean => NO_ROOM.has(codeOf(error));
const DAMAGED: ReadonlySet<string> = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB']);

/** Explains why the file could not be opened. */
export function refusedFile(file: string, error: unknown): FileRefused {
  const code = codeOf(error);
  if (code.startsWith('SQLITE_NOTADB'))
    return new FileRefused(
      `${file} is not a file of Steadfast's: it is not a SQLite file. Name another with --data`,
    );
  if (code.startsWith('SQLITE_CORRUPT'))
    return new FileRefused(
      `${file} is damaged or cut short: put back a whole copy of it and of its -wal file`,
    );
  if (code.startsWith('SQLITE_FULL'))
    return new FileRefused(`${file} cannot be opened: the disk is full. Make room, then start again`);
  const said = (error as SqliteError | undefined)?.message ?? String(error);
  return new FileRefused(
    `${file} cannot be opened (${said}): see whether its folder is there and may be written, or name another file with --data`,
  );
}

export const openElsewhere = (file: string): FileRefused =>
  new FileRefused(`${file} is open in another process, and only one may serve it: end that one first`);

export const newerFile = (file: string, format: number, known: number): FileRefused =>
  new FileRefused(
    `${file} was written by a newer release (format ${format}; this one reads ${known}): start that release`,
  );

export const olderFile = (file: string, format: number, known: number): FileRefused =>
  new FileRefused(
    `${file} was written by an older release (format ${format}; this one reads ${known}): end its executions with that release, or name another file with --data`,
  );

export const foreignFile = (file: string): FileRefused =>
  new FileRefused(`${file} is a SQLite file, but not one of Steadfast's. Name another with --data`);

/** SQLite would treat such a file as complete, in the state of its last checkpoint. */
export const withoutLog = (file: string, format: number): FileRefused =>
  new FileRefused(
    `${file} was copied while it was served, without ${file}-wal, in which its latest writes are: copy both, or make the copy by sqlite3 <file> '.backup <copy>'. To serve it without them: sqlite3 ${file} 'PRAGMA user_version = ${format}'`,
  );

/** Log and lock are named after the name in use, so under two names, two processes could write the file. */
export const otherName = (file: string): FileRefused =>
  new FileRefused(
    `${file} is another name of a file (a hard link) that is served by its own name, beside which its log is: serve it by that one, or make a copy by sqlite3 <its own name> '.backup <copy>'`,
  );

/** SQLite would treat an empty file as new, and work in progress would begin again. */
export const emptiedFile = (file: string): FileRefused =>
  new FileRefused(
    `${file} is empty, and has been served before: put back a whole copy, or remove it with ${file}-lock to begin anew`,
  );

/** SQLite would open it for reading and refuse each write. */
export const readOnlyFile = (file: string): FileRefused =>
  new FileRefused(
    `${file} may only be read: let the user of this process write it, or name another with --data`,
  );

/** SQLite would create a new database in it, so the loss of the executions would be noticed only later. */
export const brokenOffFile = (file: string): FileRefused =>
  new FileRefused(
    `${file} is empty, as a copy is that broke off: put back a whole copy, or remove it to begin anew`,
  );

/** Otherwise further writes would be lost at the end of the process, or another process would write too. */
export const removedFile = (file: string, part: string): FileRefused =>
  new FileRefused(
    `${file} is no longer the file that is served: its ${part} was removed or replaced. Put back what was moved, then start again`,
  );

export const closedFile = (): DynamoDBServiceException => serverError('FileClosed', 'the file is closed');

/** The failure of a commit: none of its writes is in the file. */
export interface Trouble {
  readonly error: DynamoDBServiceException;
  /** Whether this process can do nothing more with the file. */
  readonly isFinal: boolean;
  /** The file's state in a few words; absent if the write itself was at fault. */
  readonly state?: string;
}

/** @param mayGrow whether the file can grow now: SQLite reports an exhausted quota only as a failed write */
export function troubleOf(error: unknown, mayGrow: () => boolean = () => true): Trouble {
  const code = codeOf(error);
  const isFull = code.startsWith('SQLITE_FULL') || NO_ROOM.has(code);
  if (isFull || (code.startsWith('SQLITE_IOERR_WRITE') && !mayGrow()))
    return {
      error: serverError(
        'DiskFull',
        'the disk is full: nothing of this was written. Make room and ask again',
      ),
      isFinal: false,
      state: 'the disk is full',
    };
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return {
      error: serverError(
        'FileBusy',
        'another program is writing the file: nothing of this was written. Ask again',
      ),
      isFinal: false,
      state: 'another program is writing the file',
    };
  const said = (error as SqliteError | undefined)?.message ?? String(error);
  if (error instanceof FileRefused)
    return { error: serverError('FileBroken', said), isFinal: true, state: said };
  if ([...DAMAGED].some((one) => code.startsWith(one)) || code.startsWith('SQLITE_IOERR'))
    return {
      error: serverError('FileBroken', `the file can no longer be read or written (${said}): start again`),
      isFinal: true,
      state: said,
    };
  const unforeseen = serverError('FileTrouble', `nothing of this was written (${said})`);
  return { error: unforeseen, isFinal: false, ...(code.startsWith('SQLITE_') ? { state: said } : {}) };
}

const serverError = (name: string, message: string): DynamoDBServiceException =>
  new DynamoDBServiceException({ name, message, $fault: 'server', $metadata: {} });
