/**
 * What agents have done to the processes that run them, as the process knows that has started those.
 *
 * Owns: its shape. Does not own: whose fault an end is (`lib/worker/`), attempts whose leases supervisors
 * have ended (`receipts.ts`).
 */

import type { Failure } from '../values/failure.ts';
import type { LostAttempts } from './receipts.ts';

/** Ends of a process of several agents, unless an attempt of the one at fault is known to be lost by them. */
export interface WorkerEnds {
  /** The one at fault. Absent where that is not known. */
  readonly agent?: string;
  /** Where it is not known: those at work, those that were in the most ends first. */
  readonly oneOf?: readonly string[];
  readonly times: number;
  /** The first of a row without a longer quiet in between, and the latest. */
  readonly since: number;
  readonly at: number;
  /** How the latest came about. */
  readonly why: string;
}

export interface WorkerTroubles {
  /** By agent whose attempts have ended by its own fault. */
  readonly lost: ReadonlyMap<string, LostAttempts>;
  readonly ends: readonly WorkerEnds[];
}

export const NO_TROUBLES: WorkerTroubles = { lost: new Map(), ends: [] };

/** How a process ended, as what its agent answered. */
export const endOf = (why: string | undefined): { readonly failure?: Failure } =>
  why === undefined ? {} : { failure: { code: 'process-died', message: why } };
