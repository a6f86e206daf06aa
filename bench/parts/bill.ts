/**
 * The whole bill of a month: settings × counts × prices.
 *
 * Owns: the costs besides the steps, and their quantities. Does not own: the prices (`prices.ts`), the units
 * of one execution (counted: `results/cost.json`). Pure.
 */

import { BILLED, PRICES, type Units } from './prices.ts';

/** The settings of a deployment that affect its bill, as its defaults have them. */
export interface BillSettings {
  readonly agents: number;
  /** How many functions the agents share. @default one each */
  readonly functions?: number;
  readonly supervisors: number;
  readonly sweepEveryMs: number;
  readonly wakeShards: number;
  readonly auditEveryHours: number;
  readonly auditMegabytes: number;
  readonly retentionDays: number;
  readonly monitoring: 'alarms-and-dashboard' | 'alarms' | 'none';
}

export const BILL_DEFAULTS: BillSettings = {
  agents: 4,
  supervisors: 2,
  sweepEveryMs: 2_000,
  wakeShards: 4,
  auditEveryHours: 24,
  auditMegabytes: 1_000,
  retentionDays: 30,
  monitoring: 'alarms-and-dashboard',
};

/** The use of a deployment in a month. */
export interface BillUse {
  readonly executions: number;
  readonly steps: number;
  /** The units of one execution, as counted. */
  readonly units: Units;
}

export interface Bill {
  readonly lines: Readonly<Record<string, number>>;
  readonly total: number;
  /** The price of the same steps elsewhere, without the functions that do the work. */
  readonly rivals: Readonly<Record<'standard' | 'express' | 'durable', number>>;
}

const HOURS = 730;
const MINUTES = HOURS * 60;
const DAYS = HOURS / 24;
const MB = 1_048_576;
const GB = 1_000_000_000;
/** The bytes of a record of a chain of five with 100 B a step, without the indexes, which add a third. */
const RECORD_BYTES = 400;
const WITH_INDEXES = 1.33;
/** Read units per MB, with eventual consistency, and of a query that finds nothing. */
const UNITS_A_MB = 128;
const UNITS_A_QUERY = 0.5;
/** A table with fewer records is small, and read hourly (`lib/supervisor/audit.ts`). */
const SMALL_TABLE = 50_000;
const RUNS_A_DAY = 96;
/** From this many steps a minute on, at least one execution is always open. */
const NEVER_IDLE = 4;
/** A start in a quiet system calls a supervisor for ten seconds. */
const CALLED_SECONDS = 10;
/** How long a second supervisor runs: it finds the first one and exits. */
const LOOK_SECONDS = 0.5;
/** A count of what is open reads eight shards, and the breaker of each agent. */
const OPEN_SHARDS = 8;
/** An idle system is counted less often. */
const MINUTES_A_COUNT = { busy: 1, idle: 15 } as const;
/** The log of the two supervisors of a minute, as `bench:cost` counts it in an idle system. */
const TICK_LOG_BYTES = 1_874;
/** The processor's time to remove a record (`npm run bench:audit`). */
const REMOVAL_SECONDS = 0.000_43;
/**
 * The number of metric names that a deployment without faults writes. Other metrics are charged only for the
 * hours in which their fault occurs.
 */
export const METRICS = { idle: 6, busy: 12, carriedOn: 1 } as const;
const RECEIPTS_A_MINUTE = 3;
/** Alarmed metrics besides one for each function of agents. */
const ALARMED_METRICS = 30;

export function billOf(settings: BillSettings, use: BillUse): Bill {
  const { agents, functions = agents, supervisors, sweepEveryMs, wakeShards, monitoring } = settings;
  const { usd, lambda } = PRICES;
  const { executions, steps, units } = use;
  const isBusy = steps / MINUTES >= NEVER_IDLE;
  const secondUsd = lambda.memoryGb * usd.lambdaGbSeconds;
  const kept = executions * (settings.retentionDays / DAYS);
  const records = kept * (1 + steps / Math.max(1, executions));
  const megabytes = (records * RECORD_BYTES) / MB;
  const everyHours =
    records <= SMALL_TABLE ? Math.min(1, settings.auditEveryHours) : settings.auditEveryHours;
  const readMb = Math.min(megabytes * (HOURS / everyHours), settings.auditMegabytes * RUNS_A_DAY * DAYS);
  const sweeps = isBusy ? MINUTES * (60_000 / sweepEveryMs) : MINUTES;
  const working = isBusy
    ? MINUTES * (57 + (supervisors - 1) * LOOK_SECONDS)
    : MINUTES * supervisors * LOOK_SECONDS * 0.02 + executions * CALLED_SECONDS;
  const counts = MINUTES / MINUTES_A_COUNT[isBusy ? 'busy' : 'idle'];
  const queries = sweeps * wakeShards + counts * (OPEN_SHARDS + agents + 1);
  const lines = {
    steps: BILLED.reduce((sum, what) => sum + units[what] * usd[what], 0) * executions,
    API: units.apiRequests * usd.apiRequests * executions,
    logs: (units.logBytes / GB) * usd.logGb * executions,
    'audit, reads': readMb * UNITS_A_MB * usd.readUnits,
    'audit, removals': steps * usd.writeUnits,
    'audit, time': ((steps * REMOVAL_SECONDS) / lambda.processorShare) * secondUsd,
    supervisors:
      working * secondUsd +
      MINUTES * supervisors * usd.lambdaRequests +
      queries * UNITS_A_QUERY * usd.readUnits +
      (isBusy ? MINUTES * RECEIPTS_A_MINUTE * wakeShards * usd.writeUnits : 0) +
      ((MINUTES * TICK_LOG_BYTES) / GB) * usd.logGb,
    polling: (agents + 1) * usd.polledQueue,
    metrics:
      (steps > 0 ? METRICS.busy + (functions < agents ? METRICS.carriedOn : 0) : METRICS.idle) * usd.metric,
    alarms: monitoring === 'none' ? 0 : (ALARMED_METRICS + functions) * usd.alarm,
    dashboard: monitoring === 'alarms-and-dashboard' ? usd.dashboard : 0,
    'storage, backups':
      ((records * RECORD_BYTES) / GB) * (WITH_INDEXES * usd.storageGbMonth + usd.backupGbMonth),
  };
  return {
    lines,
    total: Object.values(lines).reduce((sum, one) => sum + one, 0),
    rivals: {
      standard: steps * usd.stepFunctionsTransitions,
      express: executions * usd.expressRequests + steps * EXPRESS_STEP_GB_SECONDS * usd.expressGbSeconds,
      durable: steps * usd.durableOperations,
    },
  };
}

/** A step of 0.1 s in a workflow of 64 MB, the least that is charged. */
const EXPRESS_STEP_GB_SECONDS = 0.1 * 0.0625;

/** Executions of the same chain in a month. */
export const MONTHS: readonly (readonly [what: string, executions: number])[] = [
  ['idle', 0],
  ['100 runs a day', 100 * DAYS],
  ['10 M steps', 2_000_000],
  ['1,000 M steps', 200_000_000],
];
export const STEPS_OF_A_RUN = 5;

/** One bill for each of `MONTHS`. */
export const monthlyBills = (units: Units, settings: BillSettings = BILL_DEFAULTS): readonly Bill[] =>
  MONTHS.map(([, executions]) => billOf(settings, { executions, steps: executions * STEPS_OF_A_RUN, units }));

/** A month of a deployment whose agents share one function. */
export const ONE_HOST = '10 M steps, one host';

/** @param units counted in one host */
export const billOfOneHost = (units: Units): Bill =>
  billOf({ ...BILL_DEFAULTS, functions: 1 }, { executions: 2_000_000, steps: 10_000_000, units });
