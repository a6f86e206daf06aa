/** A new id or key that cannot be guessed. */

import { randomUUID } from 'node:crypto';

/**
 * As unguessable as a UUID, in two thirds of its length: every record has two, and is read again and again.
 */
export const freshId = (): string =>
  Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url').replaceAll('_', '-');
