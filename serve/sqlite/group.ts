/**
 * Groups all writes of one turn of the event loop into one commit.
 *
 * Owns: the time of commits, and what happens to the writes of a commit that fails. Does not own: the effect
 * of a write (`commands.ts`).
 *
 * Invariants
 * - I1 a write is answered only after its commit.
 * - I2 writes are made in the order of the calls.
 * - I3 a refusal concerns one write: a write is checked completely before it changes anything, so a refusal
 *   needs no rollback and no savepoint. Any other error rolls back the whole commit and rejects all its
 *   writes, refused ones too: they may have been refused because of a write that was rolled back.
 * - I4 the commit is made at the end of the turn, without a timer.
 */

import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type Sqlite from 'libsql';
import { closedFile, type Trouble, troubleOf } from './trouble.ts';

interface Waiting {
  readonly run: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A write of the commit, done or refused. */
type Made = readonly [settle: (value: never) => void, value: unknown];

interface GroupEvents {
  /** Makes the error for the callers. */
  readonly worded: (trouble: Error) => Error;
  /** Called when the disk can no longer be read or written. */
  readonly broken: (error: Error) => void;
  /** Called when nothing of a commit was written. */
  readonly failed: (trouble: Trouble) => void;
  /** Called before each commit; an error that it throws counts as the disk's. */
  readonly committing: () => void;
  readonly committed: () => void;
  /** Whether the disk has room for more. */
  readonly mayGrow: () => boolean;
  /** Called when the writes since the last commit were rolled back. */
  readonly takenBack: () => void;
}

export class CommitGroup {
  readonly #db: Sqlite.Database;
  readonly #begin: Sqlite.Statement;
  readonly #commit: Sqlite.Statement;
  #waiting: Waiting[] = [];
  /** The error of all further calls, once it has stopped. */
  #ended: Error | undefined;
  readonly #on: GroupEvents;

  constructor(db: Sqlite.Database, on: GroupEvents) {
    this.#db = db;
    this.#on = on;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
  }

  write<Output>(run: () => Output): Promise<Output> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#waiting.push({ run, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.flush());
    });
  }

  /**
   * Reads without waiting for the commit: a read sees only committed data, and an answered write is
   * committed.
   */
  read<Output>(run: () => Output): Output {
    if (this.#ended !== undefined) throw this.#ended;
    try {
      return run();
    } catch (error) {
      throw error instanceof DynamoDBServiceException ? error : this.#takenBack(troubleOf(error));
    }
  }

  /** Commits waiting writes. */
  flush(): void {
    const writes = this.#waiting;
    if (writes.length === 0) return;
    this.#waiting = [];
    const made: Made[] = [];
    try {
      this.#begin.run();
      for (const { run, resolve, reject } of writes) made.push(attempt(run, resolve, reject));
      this.#on.committing();
      this.#commit.run();
    } catch (error) {
      this.#waiting = writes;
      return this.fail(error);
    }
    for (const [settle, value] of made) settle(value as never);
    this.#on.committed();
  }

  /** Rejects the waiting writes, and all later calls if the error is final. */
  fail(error: unknown): void {
    const trouble = troubleOf(error, this.#on.mayGrow);
    const said = this.#takenBack(trouble);
    this.#on.failed(trouble);
    for (const { reject } of this.#waiting.splice(0)) reject(said);
  }

  /** Stops after committing waiting writes. */
  end(): void {
    this.flush();
    this.#ended ??= closedFile();
  }

  /** Rolls back the writes since the last commit. @returns the error for the callers */
  #takenBack({ error: said, isFinal }: Trouble): Error {
    this.#takeBack();
    if (isFinal && this.#ended === undefined) {
      this.#ended = said;
      this.#on.broken(said);
    }
    return this.#on.worded(said);
  }

  #takeBack(): void {
    this.#on.takenBack();
    try {
      // On a full disk, SQLite has already rolled back.
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    } catch {
      // A write that cannot be rolled back was not committed either.
    }
  }
}

function attempt(run: () => unknown, resolve: Waiting['resolve'], reject: Waiting['reject']): Made {
  try {
    return [resolve, run()];
  } catch (error) {
    if (!(error instanceof DynamoDBServiceException)) throw error;
    return [reject, error];
  }
}
