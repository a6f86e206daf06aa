/**
 * Ids that say which process has made them.
 *
 * Owns: the mark in each id, and whose an id is. The lock on the file proves that every process before this
 * one is dead, so a lease whose token has another mark is a dead attempt's (`resume.ts`).
 */

import { randomBytes } from 'node:crypto';
import type { RandomSource } from '../lib/core/ports.ts';

const textOf = (bytes: number): string => randomBytes(bytes).toString('base64url').replaceAll('_', '-');

export interface Boot extends RandomSource {
  /** Whether this process has made the id. */
  readonly isOurs: (id: string) => boolean;
}

/** As long as ids are elsewhere; what is not the mark has 96 random bits. */
export function newBoot(mark: string = textOf(6).slice(0, 7)): Boot {
  return {
    id: () => mark + textOf(12),
    number: () => Math.random(),
    isOurs: (id) => id.startsWith(mark),
  };
}
