/**
 * Ids that say which process created them.
 *
 * Owns: the mark in each id, and the process that an id belongs to. The lock on the file proves that every
 * process before this one is dead, so a lease whose token has another mark belongs to a dead attempt
 * (`resume.ts`).
 */

import { freshId } from '../lib/aws/fresh-id.ts';
import type { RandomSource } from '../lib/core/ports.ts';

export interface Boot extends RandomSource {
  /** Whether this process created the id. */
  readonly isOurs: (id: string) => boolean;
}

/** About as long as ids elsewhere; the part besides the mark has 90 random bits. */
export function newBoot(mark: string = freshId().slice(-7)): Boot {
  return {
    id: () => mark + freshId().slice(-16),
    number: () => Math.random(),
    isOurs: (id) => id.startsWith(mark),
  };
}
