/**
 * Damage that agents did to the processes that run them, as known to the process that started those.
 *
 * Owns: its shape. Does not own: who is at fault for an end (`lib/worker/`), attempts whose leases
 * supervisors have ended (`receipts.ts`).
 */

import type { Failure } from '../values/failure.ts';
import type { LostAttempts } from './receipts.ts';

/**
 * Ends of a process of several agents, unless they are known to have lost an attempt of the agent at fault.
 */
export interface WorkerEnds {
  /** The agent at fault. Absent if that is unknown. */
  readonly agent?: string;
  /** If it is unknown: the agents at work, those in the most ends first. */
  readonly oneOf?: readonly string[];
  readonly times: number;
  /** The first of a row without a longer quiet in between, and the latest. */
  readonly since: number;
  readonly at: number;
  /** How the latest one happened. */
  readonly why: string;
}

export interface WorkerTroubles {
  /** Attempts that ended through their agent's own fault, by agent. */
  readonly lost: ReadonlyMap<string, LostAttempts>;
  readonly ends: readonly WorkerEnds[];
}

export const NO_TROUBLES: WorkerTroubles = { lost: new Map(), ends: [] };

/** The end of a process, in the form of an agent's answer. */
export const endOf = (why: string | undefined): { readonly failure?: Failure } =>
  why === undefined ? {} : { failure: { code: 'process-died', message: why } };
