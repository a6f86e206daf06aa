/**
 * The folder with the films, which all encoders share like a volume.
 *
 * Owns: `uploads/`, one film each, and `segments/`, one for each idempotency key, so that encoding twice
 * leaves one segment. Does not own: the content of a file (`encoder.ts`).
 */

import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const placeOf = (shelf: 'uploads' | 'segments', name: string): string =>
  join(resolve(process.env['VIDEO_LIBRARY'] ?? '.steadfast/videos'), shelf, name);

export const uploadAt = (name: string): string => placeOf('uploads', name);
export const segmentAt = (file: string): string => placeOf('segments', file);

/** The name of a complete segment: its idempotency key. */
const wholeOf = (idempotencyKey: string): string => `${idempotencyKey}.mpegts`;

/** All existing segments, including incomplete ones. */
export const segments = (): Promise<readonly string[]> => readdir(segmentAt('')).catch(() => []);

/** Removes incomplete files of earlier attempts. @returns the file for this attempt */
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

/** @returns the segment's file, which is complete or does not exist */
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
