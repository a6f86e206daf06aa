/** The SQLite file: only one process, only our format, only complete files; each refusal is a sentence. */

import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import Sqlite from 'libsql';
import { TABLE } from '../../lib/aws/names.ts';
import { type Database, openDatabase, TABLE_NAME as TableName } from '../../serve/sqlite/client.ts';
import type { Item } from '../../serve/sqlite/values.ts';

let folder: string;
let file: string;
const open: Database[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-file-'));
  file = join(folder, 'steadfast.db');
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
  rmSync(folder, { recursive: true });
});

function opened(at = file): Database {
  const database = openDatabase(at);
  open.push(database);
  return database;
}

const item = (sk: string, more: Item = {}): Item => ({ pk: { S: 'exec#a' }, sk: { S: sk }, ...more });
const put = ({ client }: Database, Item: Item, ConditionExpression?: string) =>
  client.send(new PutItemCommand({ TableName, Item, ...(ConditionExpression && { ConditionExpression }) }));
const sks = async ({ client }: Database): Promise<(string | undefined)[]> => {
  const ask = {
    TableName,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: 'exec#a' } },
  };
  return ((await client.send(new QueryCommand(ask))).Items ?? []).map(({ sk }) => sk?.S);
};

/** Changes the file past our code, with SQLite directly. */
function tamper(sql: string): void {
  const db = new Sqlite(file);
  db.exec(sql);
  db.close();
}

it('has what was written when it is opened again', async () => {
  const first = opened();
  await put(first, item('a'));
  first.close();
  expect(await sks(opened())).toEqual(['a']);
});

it('is opened once: a second says so, and can when the first is closed', () => {
  const first = opened();
  expect(() => opened()).toThrow(/is open in another process, and only one may serve it/);
  first.close();
  expect(() => opened()).not.toThrow();
});

describe('is no longer written', () => {
  const moved = /is no longer the file that is served: its .*state\.db.* was removed or replaced/;
  const broken: Error[] = [];
  const served = (): Database => {
    const database = openDatabase(file, { onBroken: (error) => broken.push(error) });
    open.push(database);
    return database;
  };
  beforeEach(() => {
    file = join(folder, 'state.db');
    broken.length = 0;
  });

  it('when its lock was removed, and another process may have it', async () => {
    const first = served();
    await put(first, item('a'));
    rmSync(`${file}-lock`);
    const second = opened();
    await expect(put(first, item('b'))).rejects.toThrow(moved);
    expect(broken).toHaveLength(1);
    await put(second, item('c'));
    await expect(sks(first)).rejects.toThrow(moved);
    expect(await sks(second)).toEqual(['a', 'c']);
  });

  it.each(['', '-wal'])('when it (%s) was removed, and says so though nothing is written', async (part) => {
    const first = served();
    await put(first, item('a'));
    rmSync(`${file}${part}`);
    await new Promise((next) => setTimeout(next, 1_500));
    expect(broken).toMatchObject([{ message: expect.stringMatching(moved) }]);
    await expect(put(first, item('b'))).rejects.toThrow(moved);
  });

  it('and what was answered is in it, where its log was removed', async () => {
    const first = served();
    await put(first, item('a'));
    rmSync(`${file}-wal`);
    await new Promise((next) => setTimeout(next, 1_500));
    const copy = join(folder, 'copy.db');
    // The copy is the file that the next process would find if this one died now.
    copyFileSync(file, copy);
    expect(await sks(opened(copy))).toEqual(['a']);
  });
});

describe('is refused', () => {
  it('if it is not an SQLite file, and left unchanged', () => {
    writeFileSync(file, 'a letter to nobody, '.repeat(1_000));
    const before = readFileSync(file);
    expect(() => opened()).toThrow(/is not a SQLite file\. Name another with --data$/);
    expect(readFileSync(file)).toEqual(before);
    expect(existsSync(`${file}-lock`)).toBe(false);
  });

  it('when it is a SQLite file of something else', () => {
    tamper('CREATE TABLE letters (text TEXT)');
    expect(() => opened()).toThrow(/is a SQLite file, but not one of Steadfast's/);
  });

  it('when a newer release has written it, or an older one', () => {
    opened().close();
    tamper('PRAGMA user_version = 4');
    rmSync(`${file}-lock`);
    expect(() => opened()).toThrow(/newer release \(format 4; this one reads 3\): start that release$/);
    expect(existsSync(`${file}-lock`)).toBe(false);
    // An existing lock file shows that the file was served, and stays.
    writeFileSync(`${file}-lock`, '');
    expect(() => opened()).toThrow(/newer release/);
    expect(existsSync(`${file}-lock`)).toBe(true);
    tamper('PRAGMA user_version = 2');
    expect(() => opened()).toThrow(/older release \(format 2; this one reads 3\): end its executions/);
  });

  it('when it is cut short', async () => {
    const first = opened();
    for (let at = 0; at < 20; at += 1) await put(first, item(`s${at}`, { text: { S: 'x'.repeat(9_000) } }));
    first.close();
    // Cuts a copy: SQLite in this process remembers the length of the original.
    const cut = join(folder, 'cut.db');
    copyFileSync(file, cut);
    truncateSync(cut, 8_192 * 10);
    expect(() => opened(cut)).toThrow(/is damaged or cut short: put back a whole copy/);
    expect(existsSync(`${cut}-lock`)).toBe(false);
  });

  it('when nothing is left of it: a new one would begin anew what was under way', () => {
    const emptied = join(folder, 'emptied.db');
    writeFileSync(emptied, '');
    writeFileSync(`${emptied}-lock`, '');
    expect(() => opened(emptied)).toThrow(/is empty, and has been served before: put back a whole copy/);
    rmSync(emptied);
    expect(() => opened(emptied)).toThrow(/is empty, and has been served before: put back a whole copy/);
    rmSync(`${emptied}-lock`);
    expect(() => opened(emptied)).not.toThrow();
  });

  it('when it was copied while it was served, without its log', async () => {
    const [alone, both] = ['alone.db', 'both.db'].map((name) => join(folder, name)) as [string, string];
    const served = opened();
    const copy = (to: string): void => {
      copyFileSync(file, to);
      copyFileSync(`${file}-wal`, `${to}-wal`);
    };
    // A new file, a few commits, and many checkpoints.
    for (const count of [0, 3, 30]) {
      const text = { S: 'x'.repeat(200_000) };
      for (let at = 0; at < count; at += 1) await put(served, item(`${count}-${at}`, { text }));
      copyFileSync(file, alone);
      expect(() => openDatabase(alone)).toThrow('alone.db was copied while it was served, without');
      copy(both);
      opened(both).close();
      rmSync(alone);
    }
    served.close();
    copyFileSync(file, alone);
    opened(alone).close();
  });

  it('when its folder is not there', () => {
    expect(() => opened(join(folder, 'nowhere', 'steadfast.db'))).toThrow(
      /cannot be opened .*folder is there/,
    );
  });

  it('and can be opened when that is mended: the lock was given up', () => {
    writeFileSync(file, 'nonsense '.repeat(100));
    expect(() => opened()).toThrow(/not a SQLite file/);
    rmSync(file);
    expect(() => opened()).not.toThrow();
  });
});

describe('a full disk', () => {
  it('has the writes of a commit rejected, all of them, and whole once there is room', async () => {
    const first = opened();
    await put(first, item('a'));
    first.close();
    // A full disk: SQLite gives the same error for one page too many.
    const full = openDatabase(file, { mostPages: 14 });
    open.push(full);
    const large = { text: { S: 'x'.repeat(100_000) } };
    const small = put(full, item('b'));
    const Puts = ['c', 'd'].map((sk) => ({ Put: { TableName, Item: item(sk, large) } }));
    const both = full.client.send(new TransactWriteItemsCommand({ TransactItems: Puts }));
    const answers = await Promise.allSettled([small, both]);
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 'rejected', reason: { name: 'DiskFull' } });
    expect((answers[0] as PromiseRejectedResult).reason.message).toBe(
      'the disk is full: nothing of this was written. Make room and ask again',
    );
    expect(await sks(full)).toEqual(['a']);
    // A later condition must not count the refused write as written.
    const again = put(full, item('b'), 'attribute_exists(pk)');
    await expect(again).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    full.close();
    const roomy = opened();
    await put(roomy, item('b'));
    expect(await sks(roomy)).toEqual(['a', 'b']);
  });

  it('is an event; a refused write is not, and a commit that is made again is one', async () => {
    const events: unknown[] = [];
    const [onFailed, onCommitted] = [events.push.bind(events), () => events.push('committed')];
    const full = openDatabase(file, { mostPages: 14, onFailed, onCommitted });
    open.push(full);
    const large = item('b', { text: { S: 'x'.repeat(200_000) } });
    await expect(put(full, large)).rejects.toMatchObject({ name: 'DiskFull' });
    await put(full, item('a'));
    await expect(put(full, item('a'), 'attribute_not_exists(pk)')).rejects.toThrow();
    const failure = { code: 'DiskFull', message: 'the disk is full' };
    expect(events).toEqual([failure, 'committed', 'committed']);
  });

  it('is said in the words that the server has for it', async () => {
    const full = openDatabase(file, { mostPages: 14, worded: ({ message }) => new Error(`so: ${message}`) });
    open.push(full);
    const large = item('b', { text: { S: 'x'.repeat(200_000) } });
    await expect(put(full, large)).rejects.toThrow(/^so: the disk is full/);
  });
});

it('forgets expired records, also in memory', async () => {
  const database = opened();
  await put(database, item('a', { [TABLE.ttl]: { N: '100' } }));
  expect(await database.expire(101_000)).toBe(1);
  const again = put(database, item('a'), 'attribute_exists(pk)');
  await expect(again).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
});

describe('a commit', () => {
  it('holds all writes of a turn, in their order; of two on one condition one is made', async () => {
    const database = opened();
    const answers = await Promise.allSettled([
      put(database, item('a', { by: { S: 'one' } }), 'attribute_not_exists(pk)'),
      put(database, item('a', { by: { S: 'other' } }), 'attribute_not_exists(pk)'),
      put(database, item('b')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const { Item } = await database.client.send(new GetItemCommand({ TableName, Key: item('a') }));
    expect(Item?.['by']).toEqual({ S: 'one' });
  });

  it('is not seen before it is made: a read shows what is on the disk', async () => {
    const database = opened();
    const written = put(database, item('a'));
    expect(await sks(database)).toEqual([]);
    await written;
    expect(await sks(database)).toEqual(['a']);
  });

  it('is made when the file is closed, and nothing after that', async () => {
    const database = opened();
    const written = put(database, item('a'));
    database.close();
    await written;
    await expect(put(database, item('b'))).rejects.toThrow('the file is closed');
    expect(await sks(opened())).toEqual(['a']);
    expect(existsSync(`${file}-lock`)).toBe(true);
  });

  it('contains the given values, whatever becomes of them afterwards', async () => {
    const database = opened();
    const given = item('a', { by: { S: 'one' } });
    const written = put(database, given);
    given['by'] = { S: 'other' };
    await written;
    const { Item } = await database.client.send(new GetItemCommand({ TableName, Key: item('a') }));
    expect(Item?.['by']).toEqual({ S: 'one' });
  });
});

it('removes what has expired, and nothing else', async () => {
  const database = opened();
  await put(database, item('gone', { expiresAt: { N: '1700000000' } }));
  await put(database, item('later', { expiresAt: { N: '1700000001' } }));
  await put(database, item('kept'));
  expect(await database.expire(1_700_000_000_999)).toBe(1);
  expect(await sks(database)).toEqual(['kept', 'later']);
  expect(await database.expire(1_800_000_000_000)).toBe(1);
});

/** Simulates a power cut: the log ends after the bytes that reached the disk. */
describe('after a power cut', () => {
  /** The bytes of the log's header and of a frame (header and page). */
  const [HEADER, FRAME] = [32, 24 + 8_192];
  /**
   * A value long enough that the log, which begins anew once the file is marked, becomes longer than before.
   */
  const LONG = { text: { S: 'x'.repeat(100_000) } };

  it('all is there that was answered, and of the rest the whole commit or nothing of it', async () => {
    const database = opened();
    await put(database, item('a', LONG));
    const answeredAt = readFileSync(`${file}-wal`).length;
    const pair = ['b', 'c'].map((sk) => ({
      Put: { TableName, Item: item(sk, { text: { S: 'y'.repeat(30_000) } }) },
    }));
    await database.client.send(new TransactWriteItemsCommand({ TransactItems: pair }));
    const log = readFileSync(`${file}-wal`);
    expect([(answeredAt - HEADER) % FRAME, (log.length - HEADER) % FRAME]).toEqual([0, 0]);
    expect(log.length - answeredAt).toBeGreaterThan(6 * FRAME);

    const cuts = [];
    for (let at = answeredAt; at <= log.length; at += FRAME)
      cuts.push(at, at + 1, at + 24, at + FRAME / 2, at + FRAME - 1);
    for (const cut of cuts.filter((at) => at <= log.length)) {
      const copy = join(folder, `cut-${cut}.db`);
      copyFileSync(file, copy);
      writeFileSync(`${copy}-wal`, log.subarray(0, cut));
      const found = openDatabase(copy);
      expect(await sks(found)).toEqual(cut === log.length ? ['a', 'b', 'c'] : ['a']);
      await put(found, item('d'));
      found.close();
    }
    expect(cuts.length).toBeGreaterThan(30);
  });

  it('a frame that was torn counts as none', async () => {
    const database = opened();
    await put(database, item('a', LONG));
    await put(database, item('b', { text: { S: 'y'.repeat(30_000) } }));
    const log = readFileSync(`${file}-wal`);
    log.fill(0, log.length - 4_096);
    const copy = join(folder, 'torn.db');
    copyFileSync(file, copy);
    writeFileSync(`${copy}-wal`, log);
    expect(await sks(opened(copy))).toEqual(['a']);
  });
});
