/**
 * Stores large values as files of a folder beside the file of the state.
 *
 * Owns: naming the files, writing each value completely or not at all, and syncing it so that it survives a
 * power cut. Does not own: the keys (`core/records/large-values.ts`), their removal
 * (`supervisor/audit-values.ts`).
 *
 * An execution's id may be too long for a file name. So the part after each dot is a folder within its
 * parent's, named with that dot. No other part of a key begins with a dot.
 */

import { hash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { LargeValueInventory, LargeValues, StoredValue } from '../lib/core/ports.ts';
import { IN_MEMORY, unlinked } from './sqlite/file.ts';

/** The folder is beside the file, like its log. */
const valuesFolderOf = (file: string): string => `${unlinked(file)}-values`;

/** The folder of files that are being written. Files found there at a start are from a dead process. */
const DRAFTS = '.drafts';
const PAGE = 1_000;
const sha256 = (text: string): string => hash('sha256', text, 'hex');
/** Tries of a put: between two of its calls, an empty folder may be removed. */
const MOST_TRIES = 10;

/** @param most the number of objects on a page of a list */
export function folderValues(folder: string, most = PAGE): LargeValues & LargeValueInventory {
  const fileOf = (key: string): string => join(folder, ...partsOf(key));
  return {
    hash: sha256,
    put: async (key, json) => {
      const draft = join(folder, DRAFTS, randomUUID());
      await folderFor(draft);
      try {
        await written(draft, json);
        await placed(draft, fileOf(key), folder);
      } catch (error) {
        // A leftover draft would take room on a disk that may be full.
        await rm(draft, { force: true });
        throw error;
      }
    },
    get: (key) => readFile(fileOf(key), 'utf8').catch(absent),
    list: async (prefix, cursor) => {
      const items: StoredValue[] = [];
      for await (const { key, file } of keysIn(folder, '', prefix, cursor ?? '')) {
        const facts = await stat(file).catch(absent);
        if (facts === undefined) continue;
        items.push({ key, storedAt: Math.floor(facts.mtimeMs), bytes: facts.size });
        if (items.length === most) return { items, cursor: key };
      }
      return { items };
    },
    remove: async (keys) => {
      for (const key of keys) {
        const file = fileOf(key);
        await rm(file, { force: true });
        // The removal survives a power cut once it is answered.
        await syncFolder(await removeEmpty(dirname(file), folder)).catch(absent);
      }
    },
  };
}

/** The values of the process that has the file open. */
export async function valuesOf(file: string): Promise<LargeValues & LargeValueInventory> {
  if (file === IN_MEMORY) return memoryValues();
  const folder = valuesFolderOf(file);
  // Removes drafts of a process that died before it placed them.
  await rm(join(folder, DRAFTS), { recursive: true, force: true });
  return folderValues(folder);
}

/** Values in memory, which end with the process, as the state does. */
function memoryValues(): LargeValues & LargeValueInventory {
  const stored = new Map<string, { readonly json: string; readonly storedAt: number }>();
  return {
    hash: sha256,
    put: async (key, json) => void stored.set(key, { json, storedAt: Date.now() }),
    get: async (key) => stored.get(key)?.json,
    list: async (prefix) => ({
      items: [...stored]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { json, storedAt }]) => ({ key, storedAt, bytes: Buffer.byteLength(json) }))
        .sort((one, other) => (one.key < other.key ? -1 : 1)),
    }),
    remove: async (keys) => {
      for (const key of keys) stored.delete(key);
    },
  };
}

/** Turns "not found" into undefined and rejects for any other error: an unreadable value is not missing. */
const absent = (error: unknown): undefined => {
  if (['ENOENT', 'ENOTDIR', 'EISDIR'].some((code) => isCode(error, code))) return undefined;
  throw error;
};
const isCode = (error: unknown, code: string): boolean => Object(error).code === code;

/** Splits a key into folder names and, last, the file name. */
function partsOf(key: string): readonly string[] {
  const [hashed = '', executionId = '', ...rest] = key.split('/');
  const [root = '', ...children] = executionId.split('.');
  return [hashed, root, ...children.map((part) => `.${part}`), ...rest];
}

async function written(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function placed(draft: string, file: string, top: string, tries = 1): Promise<void> {
  await folderFor(file);
  try {
    await rename(draft, file);
    // A new name survives a power cut only if its folder is synced, and that folder's own name too.
    await syncNames(dirname(file), top);
  } catch (error) {
    if (!isCode(error, 'ENOENT') || tries === MOST_TRIES) throw error;
    await placed(draft, file, top, tries + 1);
  }
}

/** Creates the folder; only this user can read it. */
const folderFor = (file: string): Promise<unknown> => mkdir(dirname(file), { recursive: true, mode: 0o700 });

/** Syncs each folder from `from` up to the topmost. */
async function syncNames(from: string, top: string): Promise<void> {
  const last = dirname(top);
  for (let at = from; at.length > last.length; at = dirname(at)) await syncFolder(at);
  await syncFolder(last);
}

/** A folder cannot be opened on Windows, and its entries are durable by themselves. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes empty folders upwards. @returns the first folder that was not removed */
async function removeEmpty(path: string, top: string): Promise<string> {
  if (path.length <= top.length) return path;
  try {
    await rmdir(path);
  } catch {
    return path;
  }
  return removeEmpty(dirname(path), top);
}

/** Lists keys in order. A folder's name is compared with its trailing slash. */
async function* keysIn(
  path: string,
  before: string,
  prefix: string,
  after: string,
): AsyncGenerator<{ readonly key: string; readonly file: string }> {
  const entries = (await readdir(path, { withFileTypes: true }).catch(absent)) ?? [];
  const ordered = entries
    .filter(({ name }) => name !== DRAFTS || before !== '')
    .sort((one, other) => (`${one.name}/` < `${other.name}/` ? -1 : 1));
  for (const entry of ordered) {
    const key = `${before}${before === '' || entry.name.startsWith('.') ? '' : '/'}${entry.name}`;
    const file = `${path}${sep}${entry.name}`;
    if (!entry.isDirectory()) {
      if (key.startsWith(prefix) && key > after) yield { key, file };
      continue;
    }
    const isWanted = prefix.startsWith(key) || key.startsWith(prefix);
    // Everything below it comes before the cursor.
    const isBefore = !after.startsWith(key) && key < after;
    if (isWanted && !isBefore) yield* keysIn(file, key, prefix, after);
  }
}
