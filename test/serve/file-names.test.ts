/** All names of a file lead to the same lock and the same folder of large values. */

import { chmodSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { valuesOf } from '../../serve/folder-values.ts';
import { openDatabase } from '../../serve/sqlite/client.ts';
import { eachFolder } from '../fresh-folder.ts';

let folder: string;
let file: string;
eachFolder('names', (path) => (folder = path));
beforeEach(() => {
  file = join(folder, 'steadfast.db');
});

it('is opened once, though one name of it is a link that was there before it', async () => {
  const link = join(folder, 'link.db');
  symlinkSync('steadfast.db', link);
  const first = openDatabase(link);
  try {
    expect(() => openDatabase(file)).toThrow(/is open in another process, and only one may serve it/);
    await (await valuesOf(link)).put('a/b', '1');
    expect(await (await valuesOf(file)).get('a/b')).toBe('1');
  } finally {
    first.close();
  }
});

it('is refused where its name is a link to what cannot be made', () => {
  symlinkSync('nowhere/steadfast.db', file);
  expect(() => openDatabase(file)).toThrow(/cannot be opened .*see whether its folder is there/);
});

it('is refused where it is empty though it was never served, as a copy is that broke off', () => {
  writeFileSync(file, '');
  expect(() => openDatabase(file)).toThrow(/is empty, as a copy is that broke off: put back a whole copy/);
  expect(existsSync(`${file}-lock`)).toBe(false);
  rmSync(file);
  openDatabase(file).close();
});

it('is refused where it may only be read: each write would be refused later', () => {
  openDatabase(file).close();
  rmSync(`${file}-lock`);
  chmodSync(folder, 0o777);
  chmodSync(file, 0o444);
  // The administrator may write any file.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    expect(() => openDatabase(file).close()).toThrow(/may only be read: let the user of this process/);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});
