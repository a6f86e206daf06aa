/**
 * How the state table is paid for: by use, or by the hour.
 *
 * Owns: the capacity that executions need, and what is said of its price at synthesis. Does not own: the
 * table (`state-table.ts`).
 *
 * By the hour a unit in use costs a third, but table and indexes have a floor each, whatever is used.
 * Capacity follows use within minutes; until then DynamoDB refuses, what is refused is late, and nothing is
 * lost.
 */

import { Billing, Capacity } from 'aws-cdk-lib/aws-dynamodb';
import { Annotations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

export interface TableBilling {
  readonly provisioned: {
    /** Executions of four steps that start in a second, at most. */
    readonly startsPerSecond: number;
    /**
     * Write and read units a second that table and indexes have at least, each: the floor.
     * @default 5
     */
    readonly leastUnits?: number;
  };
}

/** What an execution of four steps writes, in write units: 6 and 2 a step (bench/results/cost.json). */
export const UNITS_A_START = 14;
/** What it reads, in read units. */
const READ_UNITS_A_START = 5;
/** At most: DynamoDB adds capacity where more is used (`Capacity.autoscaled`). */
const USED = 0.7;
const LEAST_UNITS = 5;

/**
 * List prices of us-east-1, of a unit
 * (https://aws.amazon.com/dynamodb/pricing/provisioned/, https://aws.amazon.com/dynamodb/pricing/on-demand/).
 */
export const UNIT_USD = {
  provisionedHour: { write: 0.000_65, read: 0.000_13 },
  onDemand: { write: 0.625e-6, read: 0.125e-6 },
} as const;
const HOURS = 730;
const UNITS_AN_HOUR = 3_600 * USED;

interface Paid {
  readonly billing: Billing;
  /** What an index has, for so many write units of each start. */
  readonly indexCapacity: (unitsAStart: number) => { readonly writeCapacity?: Capacity };
}

/** @throws Error naming what is set and what is allowed */
export function provisioned({
  provisioned: { startsPerSecond, leastUnits = LEAST_UNITS },
}: TableBilling): Paid {
  if (!(Number.isFinite(startsPerSecond) && startsPerSecond > 0))
    throw new Error(
      `billing.provisioned.startsPerSecond is ${startsPerSecond}; allowed: a number above 0, such as 20`,
    );
  if (!Number.isInteger(leastUnits) || leastUnits < 1)
    throw new Error(`billing.provisioned.leastUnits is ${leastUnits}; allowed: a whole number of 1 or more`);
  const capacity = (unitsAStart: number): Capacity => {
    const maxCapacity = Math.max(leastUnits, Math.ceil((startsPerSecond * unitsAStart) / USED));
    // Where a table that is in use changes to it, no start waits for capacity to follow.
    return Capacity.autoscaled({
      minCapacity: leastUnits,
      maxCapacity,
      targetUtilizationPercent: USED * 100,
      seedCapacity: maxCapacity,
    });
  };
  return {
    billing: Billing.provisioned({
      readCapacity: capacity(READ_UNITS_A_START),
      writeCapacity: capacity(UNITS_A_START),
    }),
    indexCapacity: (unitsAStart) => ({ writeCapacity: capacity(unitsAStart) }),
  };
}

const saved = (kind: 'write' | 'read'): number =>
  UNIT_USD.onDemand[kind] - UNIT_USD.provisionedHour[kind] / UNITS_AN_HOUR;

/** What the floor costs a month, and from how many steps a month on it is less than by use. */
export function floorOf(
  { provisioned: { leastUnits = LEAST_UNITS } }: TableBilling,
  tableAndIndexes: number,
): { readonly usd: number; readonly steps: number } {
  const { write, read } = UNIT_USD.provisionedHour;
  const usd = tableAndIndexes * leastUnits * (write + read) * HOURS;
  const savedAStart = UNITS_A_START * saved('write') + READ_UNITS_A_START * saved('read');
  return { usd, steps: usd / (savedAStart / STEPS_A_START) };
}
const STEPS_A_START = 4;

export function sayFloor(scope: Construct, billing: TableBilling, tableAndIndexes: number): void {
  const { usd, steps } = floorOf(billing, tableAndIndexes);
  Annotations.of(scope).addInfoV2(
    'steadfast:provisioned',
    `the state table is paid for by the hour: its floor is $${usd.toFixed(0)} a month for ${tableAndIndexes} tables and indexes, whatever is used; by list prices of us-east-1 it pays from some ${Math.round(steps / 1e6)} million steps a month on, if they come evenly`,
  );
}
