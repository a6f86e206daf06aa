/** A new id or key that cannot be guessed. */

import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** The random bytes of 128 ids, from one system call. */
const pool = Buffer.alloc(ID_BYTES * 128);
let used = pool.length;
/** The position and value of a random UUID's version. https://www.rfc-editor.org/rfc/rfc9562#section-5.4 */
const VERSION_BYTE = 6;
const VERSION_4 = 0x40;

/** Makes an id as hard to guess as a UUID, a third shorter: every record has two, and is read often. */
export function freshId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  // By these bits the console tells a callback's key from other text (`cli/console/callback-handles.ts`).
  pool.writeUInt8((pool.readUInt8(used + VERSION_BYTE) & 0x0f) | VERSION_4, used + VERSION_BYTE);
  const id = pool.toString('base64url', used, used + ID_BYTES);
  used += ID_BYTES;
  return id.replaceAll('_', '-');
}
