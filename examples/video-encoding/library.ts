/**
 * Where films are: a folder that all encoders see, as a shared volume is.
 *
 * Owns: `uploads/`, one film each, and `segments/`, one for each idempotency key, so encoding it twice is
 * encoding it once. Does not own: what is in a file (`encoder.ts`).
 */

import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const placeOf = (shelf: 'uploads' | 'segments', name: string): string =>
  join(resolve(process.env['VIDEO_LIBRARY'] ?? '.steadfast/videos'), shelf, name);

export const uploadAt = (name: string): string => placeOf('uploads', name);
export const segmentAt = (file: string): string => placeOf('segments', file);

/** What is whole; under the name of its idempotency key. */
const wholeOf = (idempotencyKey: string): string => `${idempotencyKey}.mpegts`;

/** The segments that there are; half ones, too. */
export const segments = (): Promise<readonly string[]> => readdir(segmentAt('')).catch(() => []);

/** Where an attempt may write. What earlier ones have left half is removed. */
export async function begin({
  idempotencyKey,
  attempt,
}: {
  readonly idempotencyKey: string;
  readonly attempt: number;
}): Promise<string> {
  await mkdir(segmentAt(''), { recursive: true });
  await removeHalf(idempotencyKey);
  return segmentAt(`${idempotencyKey}.${attempt}.part`);
}

/** @returns the segment's file: all of it is there, or nothing */
export async function finish(part: string, idempotencyKey: string): Promise<string> {
  await rename(part, segmentAt(wholeOf(idempotencyKey)));
  await removeHalf(idempotencyKey);
  return wholeOf(idempotencyKey);
}

export async function remove(idempotencyKey: string): Promise<void> {
  await removeHalf(idempotencyKey);
  await rm(segmentAt(wholeOf(idempotencyKey)), { force: true });
}

async function removeHalf(idempotencyKey: string): Promise<void> {
  const half = (await segments()).filter(
    (name) => name.startsWith(`${idempotencyKey}.`) && name.endsWith('.part'),
  );
  for (const name of half) await rm(segmentAt(name), { force: true });
}
