/**
 * Which execution of a list asks about a wrong answer for all: the only one whose question is announced.
 *
 * Owns: the shape, and what is one list. Does not own: who writes it, and what follows for the others
 * (`engine/announced-lists.ts`).
 */

import type { Parent } from './children.ts';

export interface AnnouncedList {
  /** @see listKey */
  readonly list: string;
  readonly version: number;
  readonly writeId: string;
  readonly executionId: string;
  readonly askedAt: number;
}

/**
 * A list of one life of its execution; what is tried again asks anew.
 * @param part of the list
 * @param step of a workflow that is run for each item; of an agent's list the items are the same step
 */
export const listKey = (part: Parent, step = ''): string =>
  [part.executionId, part.step, part.since ?? 0, part.epoch ?? 1, step].join('/');
