/**
 * Creates ids that contain a mark of the process that created them.
 *
 * Owns: the mark, and whether an id has it. The lock on the file proves that all earlier processes are dead,
 * so a lease token with another mark belongs to a dead attempt (`resume.ts`).
 */

import { freshId } from '../lib/aws/fresh-id.ts';
import type { RandomSource } from '../lib/core/ports.ts';

export interface Boot extends RandomSource {
  /** Whether this process created the id. */
  readonly isOurs: (id: string) => boolean;
}

/** Creates ids about as long as other ids: the mark and 90 random bits. */
export function newBoot(mark: string = freshId().slice(-7)): Boot {
  return {
    id: () => mark + freshId().slice(-16),
    number: () => Math.random(),
    isOurs: (id) => id.startsWith(mark),
  };
}
