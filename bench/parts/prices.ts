/**
 * The prices that AWS charges for the counted units.
 *
 * Owns: the prices (`prices.json`), the dollars for a set of units, the price of the same workflow on the
 * alternatives. Does not own: the quantities (`meter.ts`). Pure.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Prices {
  /** The date of the prices. */
  readonly asOf: string;
  readonly usd: Readonly<
    Record<
      | Billed
      | 'provisionedWriteHour'
      | 'provisionedReadHour'
      | 'apiRequests'
      | 'logGb'
      | 'storageGbMonth'
      | 'backupGbMonth'
      | 'stepFunctionsTransitions'
      | 'expressRequests'
      | 'expressGbSeconds'
      | 'durableOperations'
      | 'durableGbWritten'
      | 'polledQueue'
      | 'metric'
      | 'alarm'
      | 'dashboard',
      number
    >
  >;
  /** `processorShare`: the share of one virtual processor, which is whole at 1,769 MB. */
  readonly lambda: { readonly memoryGb: number; readonly processorShare: number };
  readonly latencyMs: Readonly<Record<'dynamodb' | 's3' | 'sqs' | 'events' | 'queueToFunction', number>>;
}

export const PRICES = JSON.parse(readFileSync(join(import.meta.dirname, 'prices.json'), 'utf8')) as Prices;

/** The billed items that the limits cover: what Steadfast itself uses. */
export const BILLED = [
  'writeUnits',
  'readUnits',
  'sqsRequests',
  'lambdaRequests',
  'lambdaGbSeconds',
  'events',
] as const;
export type Billed = (typeof BILLED)[number];

const BILLED_HEADS: Readonly<Record<Billed, string>> = {
  writeUnits: 'writes',
  readUnits: 'reads',
  sqsRequests: 'SQS',
  lambdaRequests: 'Lambda calls',
  lambdaGbSeconds: 'Lambda time',
  events: 'events',
};
/** The head of a table of dollars: the billed items, the sum, the items outside the sum, the alternatives. */
export const DOLLAR_HEADS: readonly string[] = [
  ...BILLED.map((what) => BILLED_HEADS[what]),
  'sum',
  '+ API',
  '+ logs',
  'Step Functions',
  'durable',
];

export type Units = Readonly<Record<Billed, number>> & {
  /** Shown, but not in the sum: an API may have no callers. */
  readonly apiRequests: number;
  /** Shown, but not in the sum. */
  readonly logBytes: number;
};

export type Dollars = Readonly<Record<Billed, number>>;

const MILLION = 1_000_000;
const GIGABYTE = 1_000_000_000;

/** The price of a million steps. */
export function dollars(units: Units, steps: number): Dollars {
  const of = (what: Billed): number => (units[what] / steps) * MILLION * PRICES.usd[what];
  return Object.fromEntries(BILLED.map((what) => [what, of(what)])) as Dollars;
}

export const total = (parts: Dollars): number => Object.values(parts).reduce((sum, part) => sum + part, 0);

/** The price if no end is announced: without the event, and the write that records that it was sent. */
export const withoutEnds = (units: Units, steps: number): number =>
  total(dollars({ ...units, writeUnits: units.writeUnits - units.events, events: 0 }, steps));

/** Units in an hour of a provisioned unit of which 70 % is used, as `billing: { provisioned }` aims at. */
const UNITS_AN_HOUR = 3_600 * 0.7;

/** The price with a provisioned table. */
export function withProvisionedTable(units: Units, steps: number): number {
  const { writeUnits, readUnits, provisionedWriteHour, provisionedReadHour } = PRICES.usd;
  const { writeUnits: writes, readUnits: reads, ...others } = dollars(units, steps);
  const share = (hour: number, unit: number): number => hour / UNITS_AN_HOUR / unit;
  const ofTable =
    writes * share(provisionedWriteHour, writeUnits) + reads * share(provisionedReadHour, readUnits);
  return ofTable + Object.values(others).reduce((sum, part) => sum + part, 0);
}

export const logDollars = (units: Units, steps: number): number =>
  (units.logBytes / GIGABYTE / steps) * MILLION * PRICES.usd.logGb;

export const apiDollars = (units: Units, steps: number): number =>
  (units.apiRequests / steps) * MILLION * PRICES.usd.apiRequests;

/** The composition of a workflow, for services that charge by it. */
export interface Shape {
  /** Steps that agents perform. */
  readonly steps: number;
  /** Parallel and map states, each of which is a transition (an operation) of its own. */
  readonly containers: number;
  readonly payloadBytes: number;
}

export interface Rivals {
  readonly stepFunctionsStandard: number;
  readonly lambdaDurable: number;
  readonly arithmetic: readonly string[];
}

/**
 * The price of a million steps at other services, in their favour: only the price of each step, without
 * retries, replays, the start of an execution, or the functions that do the work.
 */
export function rivals({ steps, containers, payloadBytes }: Shape): Rivals {
  const { stepFunctionsTransitions, durableOperations, durableGbWritten } = PRICES.usd;
  const each = (steps + containers) / steps;
  const stepFunctionsStandard = each * MILLION * stepFunctionsTransitions;
  const data = ((payloadBytes * MILLION) / GIGABYTE) * durableGbWritten;
  const lambdaDurable = each * MILLION * durableOperations + data;
  const counted = `(${steps} steps + ${containers} containers) / ${steps}`;
  return {
    stepFunctionsStandard,
    lambdaDurable,
    arithmetic: [
      `Step Functions Standard: ${counted} × 1 M × $${stepFunctionsTransitions.toFixed(6)} = $${stepFunctionsStandard.toFixed(2)}`,
      `Lambda durable functions: ${counted} × 1 M × $${durableOperations.toFixed(6)} + ${payloadBytes} B × 1 M × $${durableGbWritten} / GB = $${lambdaDurable.toFixed(2)}`,
    ],
  };
}
