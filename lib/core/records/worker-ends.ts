/**
 * Damage that agents did to the processes that run them, as known to the program that starts these processes.
 *
 * Owns: its shape. Does not own: who is at fault for an end (`lib/worker/`), attempts whose leases
 * supervisors have ended (`receipts.ts`).
 */

import type { Failure } from '../values/failure.ts';
import type { LostAttempts } from './receipts.ts';

/**
 * Ends of a process shared by several agents. Ends known to have lost an attempt of the agent at fault are
 * not counted here.
 */
export interface WorkerEnds {
  /** The agent at fault; absent if unknown. */
  readonly agent?: string;
  /** If the agent at fault is unknown: the agents that were at work, those present at the most ends first. */
  readonly oneOf?: readonly string[];
  readonly times: number;
  /** When the first process ended, counted since a time without such ends. */
  readonly since: number;
  /** When the latest process ended. */
  readonly at: number;
  /** How the latest process ended. */
  readonly why: string;
}

export interface WorkerTroubles {
  /** By agent, attempts that ended through the agent's own fault. */
  readonly lost: ReadonlyMap<string, LostAttempts>;
  readonly ends: readonly WorkerEnds[];
}

export const NO_TROUBLES: WorkerTroubles = { lost: new Map(), ends: [] };

/** The end of a process, in the form of an agent's answer. */
export const endOf = (why: string | undefined): { readonly failure?: Failure } =>
  why === undefined ? {} : { failure: { code: 'process-died', message: why } };
