/**
 * Hashes and fresh ids for whoever starts executions.
 *
 * Owns: how they are made. Does not own: what they stand for.
 */

import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/** Of whoever starts executions. */
export const IDS = {
  hash: (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32),
  newId: (): string => uuidv7(),
};
