/** After `kill -9` at any moment, every answered write is in the file, and the lock is free at once. */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { openDatabase, TABLE_NAME as TableName } from '../../serve/sqlite/client.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const KILLS = 5;
const WRITER = `
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { openDatabase } from './serve/sqlite/client.ts';
const { client } = openDatabase(process.argv.at(-2));
const first = Number(process.argv.at(-1));
for (let at = first; ; at += 8) {
  const puts = Array.from({ length: 8 }, (_, of) =>
    client.send(new PutItemCommand({
      TableName: '${TableName}',
      Item: { pk: { S: 'exec#' + (at + of) }, sk: { S: 'exec' } },
      ConditionExpression: 'attribute_not_exists(pk)',
    })));
  await Promise.all(puts);
  process.stdout.write(at + 7 + '\\n');
}`;

/** @returns the last number whose write was answered before the kill */
async function writeUntilKilled(file: string, first: number, answers: number): Promise<number> {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', WRITER, '--', file, String(first)];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let last = first - 1;
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    lines += 1;
    if (lines === answers) child.kill('SIGKILL');
  }
  await ended;
  return last;
}

it('loses nothing that was answered, and frees the lock', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-killed-'));
  const file = join(folder, 'steadfast.db');
  let first = 0;
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const last = await writeUntilKilled(file, first, 7 * kill);
    expect(last).toBeGreaterThanOrEqual(first + 7 * kill * 8 - 1);
    const { client, close } = openDatabase(file);
    const has = async (at: number): Promise<boolean> => {
      const Key = { pk: { S: `exec#${at}` }, sk: { S: 'exec' } };
      return (await client.send(new GetItemCommand({ TableName, Key }))).Item !== undefined;
    };
    for (let at = 0; at <= last; at += 1) expect([at, await has(at)]).toEqual([at, true]);
    // The write that got no answer may be in the file, so the next process continues after it.
    first = last + 1;
    while (await has(first)) first += 1;
    close();
  }
  rmSync(folder, { recursive: true });
});
