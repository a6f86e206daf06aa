/**
 * Ids that say which process has made them.
 *
 * Owns: the mark in each id, and whose an id is. The lock on the file proves that every process before this
 * one is dead, so a lease whose token has another mark is a dead attempt's (`resume.ts`).
 */

import { freshId } from '../lib/aws/fresh-id.ts';
import type { RandomSource } from '../lib/core/ports.ts';

export interface Boot extends RandomSource {
  /** Whether this process has made the id. */
  readonly isOurs: (id: string) => boolean;
}

/** About as long as ids are elsewhere; what is not the mark has 90 random bits. */
export function newBoot(mark: string = freshId().slice(-7)): Boot {
  return {
    id: () => mark + freshId().slice(-16),
    number: () => Math.random(),
    isOurs: (id) => id.startsWith(mark),
  };
}
