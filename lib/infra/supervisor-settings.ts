/**
 * The number of supervisors that a tick starts, and the interval of their sweeps.
 *
 * Owns: the defaults and the refusals. Does not own: the schedule (`supervisor-clock.ts`), a sweep.
 */

import { Duration } from 'aws-cdk-lib/core';
import { DEFAULT_SUPERVISORS, DEFAULT_SWEEP_EVERY_MS, DEFAULT_WAKE_SHARDS } from '../aws/names.ts';

export interface SupervisorSettings {
  /** The number of supervisors; each has its part of the shards and visits the others'. */
  readonly supervisors: number;
  readonly sweepEvery: Duration;
  /** The reserved executions; 'unreserved' for none. */
  readonly reservedConcurrency: number | 'unreserved';
}

export interface SupervisorSettingsGiven {
  readonly supervisors?: number;
  readonly sweepEvery?: Duration;
  readonly supervisorConcurrency?: number | 'unreserved';
  readonly wakeShards?: number;
}

/** The maximum: four rules of the schedule, each with the five targets that EventBridge allows. */
const MOST_SUPERVISORS = 20;
/**
 * The maximum, enough for some 30,000 changes of open executions a second, which is more than a table on
 * demand takes.
 */
const MOST_SHARDS = 64;
const SHORTEST_MS = 1_000;
/**
 * The longest interval: a tick has 57 s, and must have enough sweeps for the visits that replace a dead
 * supervisor.
 */
const LONGEST_MS = 15_000;

/** @throws Error that says what is allowed */
export function supervisorSettings(given: SupervisorSettingsGiven): SupervisorSettings {
  const supervisors = given.supervisors ?? DEFAULT_SUPERVISORS;
  const shards = given.wakeShards ?? DEFAULT_WAKE_SHARDS;
  const sweepEvery = given.sweepEvery ?? Duration.millis(DEFAULT_SWEEP_EVERY_MS);
  if (!Number.isInteger(shards) || shards < 1 || shards > MOST_SHARDS) {
    throw new Error(`wakeShards is ${shards}; allowed: a whole number from 1 to ${MOST_SHARDS}`);
  }
  if (!Number.isInteger(supervisors) || supervisors < 1 || supervisors > MOST_SUPERVISORS) {
    throw new Error(`supervisors is ${supervisors}; allowed: a whole number from 1 to ${MOST_SUPERVISORS}`);
  }
  if (supervisors > Math.max(shards, DEFAULT_SUPERVISORS)) {
    throw new Error(
      `supervisors is ${supervisors}, but the wake index has ${shards} shards (wakeShards), and a supervisor without a shard has nothing to do; at most ${shards} are allowed, or raise wakeShards as well`,
    );
  }
  const everyMs = sweepEvery.toMilliseconds();
  if (everyMs < SHORTEST_MS || everyMs > LONGEST_MS) {
    throw new Error(
      `sweepEvery is ${sweepEvery.toHumanString()}; allowed: ${SHORTEST_MS / 1_000} to ${LONGEST_MS / 1_000} seconds`,
    );
  }
  const reservedConcurrency = given.supervisorConcurrency ?? 'unreserved';
  return { supervisors, sweepEvery, reservedConcurrency };
}
