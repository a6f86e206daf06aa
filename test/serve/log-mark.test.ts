/** If a server is killed at any moment of marking its file, the next two servers accept the file. */

import { copyFileSync, linkSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { FORMAT, openFile } from '../../serve/sqlite/file.ts';
import { formatIn, hasLog, isMarked, LogMark } from '../../serve/sqlite/log-mark.ts';
import { eachFolder } from '../fresh-folder.ts';

let folder: string;
let file: string;
eachFolder('mark', (path) => (folder = path));
beforeEach(() => {
  file = join(folder, 'state.db');
});

/** Copies the files as a kill of the process would leave them now. */
function killedNow(name: string): string {
  const to = join(folder, `${name}.db`);
  copyFileSync(file, to);
  copyFileSync(`${file}-wal`, `${to}-wal`);
  return to;
}

const versionIn = (of: string): number => readFileSync(of).readUInt32BE(60);

/** Copies the file with SQLite's own backup, then serves and stops it twice. */
function expectWhole(of: string): void {
  const copy = `${of}-backup`;
  const db = new Sqlite(of);
  const [seen] = db.prepare('PRAGMA user_version').raw(true).get() as unknown as [number];
  expect(seen).toBe(FORMAT);
  db.exec(`VACUUM INTO '${copy}'`);
  db.close();
  openFile(copy).close();
  openFile(of).close();
  expect([isMarked(versionIn(of)), hasLog(of)]).toEqual([false, false]);
  openFile(of).close();
}

it('leaves no mark in the log at any moment', () => {
  const { db } = openFile(file);
  const left: string[] = [];
  const spied = {
    exec: (sql: string) => {
      db.exec(sql);
      left.push(killedNow(`exec-${left.length}`));
    },
  } as unknown as Sqlite.Database;
  const mark = new LogMark(spied, file, FORMAT, 2_000);
  // A checkpoint removes the mark; a kill right after it must leave a file that the next servers accept.
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  expect(isMarked(versionIn(file))).toBe(false);
  left.push(killedNow('checkpointed'));
  mark.keep();
  expect([isMarked(versionIn(file)), formatIn(versionIn(file))]).toEqual([true, FORMAT]);
  left.push(killedNow('marked'));
  expect(left).toHaveLength(5);
  for (const one of left) expectWhole(one);
  mark.close();
  db.close();
});

it('is refused by another name of it, with the reason', () => {
  const { db } = openFile(file);
  const other = join(folder, 'other.db');
  linkSync(file, other);
  expect(() => openFile(other)).toThrow('other.db is another name of a file (a hard link)');
  db.close();
});

it('shows that a copy lacks its log', () => {
  const { db } = openFile(file);
  const copy = join(folder, 'copy.db');
  copyFileSync(file, copy);
  expect(() => openFile(copy)).toThrow('was copied while it was served');
  db.close();
});
