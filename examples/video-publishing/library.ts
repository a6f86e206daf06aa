/**
 * The outside world of this example: a media library in a folder.
 *
 * Owns: the files, and what a repeated request does to them. `uploads/`, `renditions/`, `transcripts/` and `mails/` hold one
 * file for each key, so asking twice is asking once. `catalogue.jsonl` only grows: whoever publishes twice has published
 * twice.
 */

import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

type Shelf = 'uploads' | 'renditions' | 'transcripts' | 'mails';

/** A page of the catalogue, or that one was taken down. */
export interface Entry {
  readonly page: string;
  readonly reference: string;
  readonly title?: string;
  readonly takenDown?: true;
}

const root = (): string => resolve(process.env['VIDEO_LIBRARY'] ?? '.steadfast/videos');
const fileOf = (shelf: Shelf, name: string): string => join(root(), shelf, `${name}.json`);

export async function put(shelf: Shelf, name: string, value: unknown): Promise<string> {
  await mkdir(join(root(), shelf), { recursive: true });
  await writeFile(fileOf(shelf, name), `${JSON.stringify(value)}\n`);
  return `${shelf}/${name}.json`;
}

/** @returns nothing when there is no such file */
export async function look(shelf: Shelf, name: string): Promise<unknown> {
  const text = await textOf(fileOf(shelf, name));
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

export const remove = (shelf: Shelf, name: string): Promise<void> => rm(fileOf(shelf, name), { force: true });

/** Everything that was ever published or taken down. */
export async function catalogue(): Promise<readonly Entry[]> {
  const text = (await textOf(join(root(), 'catalogue.jsonl'))) ?? '';
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Entry);
}

/** What stands under a reference. */
export async function published(reference: string): Promise<readonly Entry[]> {
  const own = (await catalogue()).filter((entry) => entry.reference === reference);
  const gone = own.filter(({ takenDown }) => takenDown).map(({ page }) => page);
  return own.filter(({ page }) => !gone.includes(page));
}

export async function record(entry: Entry): Promise<void> {
  await mkdir(root(), { recursive: true });
  await appendFile(join(root(), 'catalogue.jsonl'), `${JSON.stringify(entry)}\n`);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (Object(error).code === 'ENOENT') return undefined;
    throw error;
  }
}
