/**
 * The report on an ended execution: how it ended, and what it leaves in effect.
 *
 * Owns: the shapes. Does not own: the list of effects (`operators/in-effect.ts`), when an end is announced
 * (`rules.ts`).
 */

import type { ExecutionStatus } from '../moves.ts';
import type { Caller } from '../values/caller.ts';
import type { Cause } from './state.ts';

/** The announcement that an execution has ended; made at least once. */
export interface Ended {
  readonly about: 'end';
  readonly executionId: string;
  readonly workflow: string;
  readonly status: ExecutionStatus;
  readonly startedAt: number;
  /** Absent for a child, and if the gateway does not say who calls. */
  readonly startedBy?: Caller;
  readonly endedAt: number;
  /** Why it left the normal course; absent after a success. */
  readonly cause?: Cause['kind'];
  /** The person who canceled the execution, or resolved the incident that stopped it. */
  readonly by?: Caller;
  /** The effects that the execution left; after a success, only those of tolerated failures. */
  readonly standing?: Standing;
  /** The execution's `life`, set only if it was started with a `callbackUrl`. */
  readonly notify?: string;
  /** The on-failure steps that failed for good, or got no answer in time. Absent if there are none. */
  readonly onFailureFailed?: readonly FailedOnFailure[];
}

/** An on-failure step that failed. It does not change the end. */
export interface FailedOnFailure {
  readonly step: string;
  /** The code of its last failure. */
  readonly code: string;
  /** Set if the step may have acted nevertheless. */
  readonly mayStand?: true;
}

/** An effect that is in place, or may be. */
export interface StandingEffect {
  readonly step: string;
  /**
   * `stands`: done, and not undone. `may-stand`: under way, unknown, failed after it may have acted, or not
   * certainly undone.
   */
  readonly effect: 'stands' | 'may-stand';
  /** The execution of a child or a part of a list: its own list shows its effects. */
  readonly executionId?: string;
}

/**
 * The effects of an execution that are still there: effects that can be undone, and those of points of no
 * return.
 */
export interface Standing {
  readonly stands: number;
  readonly mayStand: number;
  /** The first 20, in the order of the plan. */
  readonly first: readonly StandingEffect[];
  /** The full list: a path of the API. */
  readonly view: string;
}
