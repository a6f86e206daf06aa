/**
 * The pauses of an execution, as its record keeps them.
 *
 * Owns: the shapes, and how much time a sum of pauses gives back. Does not own: when one begins and ends
 * (`holds/pause.ts`), whose time they extend (`step/within.ts`).
 */

import type { Caller } from '../values/caller.ts';

/** One pause of an execution, from the command to its end. */
export interface Pause {
  /** Counts up with every pause; a step that was suspended in an earlier one has to be suspended again. */
  readonly number: number;
  readonly at: number;
  readonly by?: Caller;
  readonly reason: string;
  /** How long it may last before a person is asked. */
  readonly withinMs: number;
  /** Since when its workflow is paused: the execution was started paused, so no reader has an older state. */
  readonly workflowPausedAt?: number;
  /** Since when no attempt is under way and none can begin. */
  readonly pausedAt?: number;
  /** A person is asked then. */
  readonly deadlineAt?: number;
  readonly endedAt?: number;
  /** The person who ended it; absent if no person did. */
  readonly endedBy?: Caller;
}

/** Pauses that are over and no longer kept one by one. */
export interface EarlierPauses {
  /** The number of the last one. */
  readonly number: number;
  /** When the first one began. */
  readonly at: number;
  /** When the last one ended. */
  readonly endedAt: number;
  /** How long they lasted, all together. */
  readonly ms: number;
}

/**
 * How long it was paused since then, of pauses in a sum: exact where they all lie
 * behind it, else no less than it was.
 */
export const summedSince = ({ ms, endedAt }: EarlierPauses, sinceAt: number): number =>
  Math.min(ms, Math.max(0, endedAt - sinceAt));
