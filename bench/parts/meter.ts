/**
 * Converts the local cloud's counted calls into units that AWS would bill.
 *
 * Owns: which call is which unit. Does not own: prices (`prices.ts`), the load (`load.ts`).
 *
 * DynamoDB's units are its own (`ReturnConsumedCapacity`), including indexes and transactions, and the units
 * of refused writes. Lambda's poller is not on the wire: it receives and deletes once for each batch that it
 * delivers; its empty receives cost by the hour, not by the step. Durations are a model, because this machine
 * is not Lambda: the calls one after the other with the latencies of `prices.json`, plus the measured
 * processor time, stretched to the share of a processor that the function has.
 */

import { readFileSync } from 'node:fs';
import type { CallCount } from '../../local/gateway/call-counts.ts';
import type { Cloud } from '../../local/cloud.ts';
import { PRICES, type Units } from './prices.ts';

export type Role = 'scheduler' | 'supervisor' | 'audit' | 'agent';

export interface FunctionUse {
  readonly role: Role;
  readonly logicalId: string;
  readonly invocations: number;
  /** User and system time of all its processes that are still alive. */
  readonly cpuMs: number;
}

/** All counters at one time. */
export interface Reading {
  readonly calls: readonly CallCount[];
  readonly functions: readonly FunctionUse[];
  readonly logBytes: number;
}

export interface Meter {
  readonly read: () => Reading;
}

/**
 * @param logBytes the bytes that the functions have logged so far
 * @param capacity whether DynamoDB is asked for its units; otherwise they count as zero
 */
export function meterOf(cloud: Cloud, logBytes: () => number, capacity: boolean): Meter {
  cloud.control.measureCapacity(capacity);
  return {
    read: () => ({
      calls: cloud.control.calls(),
      functions: cloud.control.functions().map(({ logicalId, invocations, processes }) => ({
        role: roleOf(logicalId),
        logicalId,
        invocations,
        cpuMs: processes.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0),
      })),
      logBytes: logBytes(),
    }),
  };
}

export function roleOf(logicalId: string): Role {
  const name = logicalId.toLowerCase();
  for (const role of ['scheduler', 'supervisor', 'audit'] as const)
    if (name.startsWith(`steadfast${role}`)) return role;
  return 'agent';
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;
/**
 * Positions after the name, which may contain blanks: user and system time are the 12th and 13th, then those
 * of ended children.
 */
const OWN = [11, 12];
const ENDED = [13, 14];

/**
 * A process's processor time so far; 0 if the process is gone.
 * @param withEnded also counts its ended children
 * @throws Error if there is no /proc
 */
export function cpuMsOf(pid: number, withEnded = false): number {
  if (process.platform !== 'linux') throw new Error('processor time of processes is read from /proc (Linux)');
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const counted = withEnded ? [...OWN, ...ENDED] : OWN;
    return counted.reduce((sum, at) => sum + Number(fields[at]), 0) * TICK_MS;
  } catch {
    return 0;
  }
}

const keyOf = ({ caller, operation, resource }: CallCount): string => `${caller}|${operation}|${resource}`;

/** The difference of two readings. */
export function between(before: Reading, after: Reading): Reading {
  const known = new Map(before.calls.map((one) => [keyOf(one), one]));
  const uses = new Map(before.functions.map((one) => [one.logicalId, one]));
  return {
    calls: after.calls.map((one) => {
      const old = known.get(keyOf(one));
      return {
        ...one,
        calls: one.calls - (old?.calls ?? 0),
        errors: one.errors - (old?.errors ?? 0),
        capacityUnits: one.capacityUnits - (old?.capacityUnits ?? 0),
      };
    }),
    functions: after.functions.map((one) => {
      const old = uses.get(one.logicalId);
      const cpuMs = Math.max(0, one.cpuMs - (old?.cpuMs ?? 0));
      return { ...one, invocations: one.invocations - (old?.invocations ?? 0), cpuMs };
    }),
    logBytes: after.logBytes - before.logBytes,
  };
}

const READS: ReadonlySet<string> = new Set(['GetItem', 'Query', 'Scan', 'BatchGetItem', 'TransactGetItems']);
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/**
 * The units of a reading.
 * @param sideBySide how many messages one invocation of an agent processed at the same time
 */
export function unitsOf({ calls, functions, logBytes }: Reading, sideBySide: number): Units {
  const ours = calls.filter(({ caller }) => caller !== 'outside');
  const dynamo = ours.filter(({ service }) => service === 'dynamodb');
  const reads = dynamo.filter(({ operation }) => READS.has(operation));
  const writes = dynamo.filter(({ operation }) => !READS.has(operation));
  const callsOf = (service: string): number =>
    sum(ours.filter((one) => one.service === service).map((one) => one.calls));
  const invocationsOf = (role: Role): number =>
    sum(functions.filter((one) => one.role === role).map((one) => one.invocations));
  const invocations = sum(functions.map((one) => one.invocations));
  const batches = invocationsOf('agent');
  return {
    writeUnits: sum(writes.map(({ capacityUnits }) => capacityUnits)),
    readUnits: sum(reads.map(({ capacityUnits }) => capacityUnits)),
    sqsRequests: callsOf('sqs') + batches * 2,
    lambdaRequests: invocations,
    lambdaGbSeconds: (durationMs(ours, functions, sideBySide) / 1_000) * PRICES.lambda.memoryGb,
    events: callsOf('events'),
    apiRequests: invocationsOf('scheduler'),
    logBytes,
  };
}

/** The duration of all invocations together, without a supervisor's sleep between two sweeps. */
function durationMs(
  calls: readonly CallCount[],
  functions: readonly FunctionUse[],
  sideBySide: number,
): number {
  const { latencyMs, lambda } = PRICES;
  let waiting = 0;
  for (const { caller, service, calls: count } of calls) {
    const each = latencyMs[service as keyof typeof latencyMs];
    waiting += (count * each) / (roleOf(caller) === 'agent' ? sideBySide : 1);
  }
  return waiting + sum(functions.map(({ cpuMs }) => cpuMs)) / lambda.processorShare;
}
