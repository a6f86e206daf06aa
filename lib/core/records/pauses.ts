/**
 * The pauses of an execution, as its record keeps them.
 *
 * Owns: the shapes, and the total length of several pauses. Does not own: when one begins and ends
 * (`holds/pause.ts`), which times they extend (`step/within.ts`).
 */

import type { Caller } from '../values/caller.ts';

/**
 * The oldest read that a claim may be based on, directly before its write (F1): a process that was frozen
 * meanwhile reads again, and finds the pause.
 */
export const CLAIM_READ_HOLDS_MS = 3_000;
/** All tries of a claim's write begin within this time of the first try (`aws/transport.ts`). */
export const CLAIM_WRITE_MS = 6_000;
/** The sum of both, a second for the request, and the 4 s by which two clocks may differ. */
const MAY_BEGIN_MS = 14_000;

/** One pause of an execution, from the command to its end. */
export interface Pause {
  /** The pause's number, from 1. */
  readonly number: number;
  readonly at: number;
  readonly by?: Caller;
  readonly reason: string;
  /** How long it may last before a person is asked. */
  readonly withinMs: number;
  /**
   * Set if the execution started paused, so that no process has read an older state: when its workflow was
   * paused.
   */
  readonly workflowPausedAt?: number;
  readonly endedAt?: number;
  /** The person who ended the pause; absent if no person did. */
  readonly endedBy?: Caller;
}

/** The time after which no attempt begins; attempts that have begun by then may go on. */
export const holdsFrom = ({ at, workflowPausedAt }: Pause): number =>
  workflowPausedAt === undefined ? at + MAY_BEGIN_MS : at;

/** When a person is asked. */
export const pauseDeadlineAt = ({ at, withinMs }: Pause): number => at + withinMs;

/** When the last pause ended; 0 if none has. */
export const resumedAt = ({ pauses }: { readonly pauses?: readonly Pause[] }): number =>
  pauses?.at(-1)?.endedAt ?? 0;

/** Pauses that are over, merged into one sum. */
export interface EarlierPauses {
  /** The number of the last of these pauses. */
  readonly number: number;
  /** When the first of them began. */
  readonly at: number;
  /** When the last of them ended. */
  readonly endedAt: number;
  /** How long they lasted, all together. */
  readonly ms: number;
}

/**
 * Returns how long the execution was paused after `sinceAt`, from a sum of pauses. The result is exact if all
 * of them are later; otherwise it may be too high, never too low.
 */
export const summedSince = ({ ms, endedAt }: EarlierPauses, sinceAt: number): number =>
  Math.min(ms, Math.max(0, endedAt - sinceAt));
