/** A new id or key that cannot be guessed. */

import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** One call of the system for so many ids. */
const pool = Buffer.alloc(ID_BYTES * 128);
let used = pool.length;

/**
 * As unguessable as a UUID, in two thirds of its length: every record has two, and is read again and again.
 */
export function freshId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString('base64url', used, used + ID_BYTES);
  used += ID_BYTES;
  return id.replaceAll('_', '-');
}
