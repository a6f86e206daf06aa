/**
 * Hashes and fresh ids for the start of executions.
 *
 * Owns: how they are made. Does not own: their meaning.
 */

import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/** The random source of the roles that start executions. */
export const IDS = {
  hash: (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32),
  newId: (): string => uuidv7(),
};
