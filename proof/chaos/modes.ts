/**
 * What can be put under chaos: orders of the example, or the workflows in which failure is part of the plan.
 *
 * Owns: per mode what is deployed, what is started, how long it may take to heal, who judges. Does not own:
 * the load and the faults, which are the same for both.
 */

import { healBoundMs } from './bounds.ts';
import { type FailureSummary, reportFailure } from './failure/report.ts';
import { type PlannedFailure, plannedFailure } from './failure/plan.ts';
import type { PlannedStart } from './load.ts';
import { plannedOrder } from './order-plan.ts';
import { type Facts, report, type Summary } from './report.ts';
import type { Deployed } from './stage.ts';
import type { TableContent } from './table-audit.ts';

export interface Verdict {
  readonly summary: Summary | FailureSummary;
  readonly failures: readonly string[];
  readonly lines: readonly string[];
}

export interface Mode {
  readonly deployed: Deployed;
  /** Starts a second. */
  readonly rate: number;
  readonly planned: (index: number) => PlannedStart;
  /** The external services' rules decide how an execution must end: they outlast the faults. */
  readonly rulesLast: boolean;
  /** From the end of all faults to the end of the last execution. */
  readonly boundMs: (table: TableContent) => number;
  /** @param answered by what a person was asked: how often it was answered */
  readonly judge: (facts: Facts, answered: Readonly<Record<string, number>>) => Verdict;
  /** A person answers what the workflows ask. */
  readonly hasPerson: boolean;
}

export const MODES = ['orders', 'failure'] as const;
export type ModeName = (typeof MODES)[number];

export const modeOf = (name: ModeName, seed: number): Mode =>
  name === 'orders' ? orders(seed) : failure(seed);

function orders(seed: number): Mode {
  return {
    deployed: { folder: 'examples', name: 'order-fulfilment' },
    rate: 2,
    planned: (index) => plannedOrder(seed, index),
    rulesLast: false,
    boundMs: (table) => healBoundMs(planOf(table, 'order-fulfilment')),
    judge: (facts) => report(facts),
    hasPerson: false,
  };
}

/**
 * The longest way: five hosts in each lane of a rollout, three steps each, and back.
 * Three tries of a site are shorter.
 */
const LONGEST_CHAIN = 30;

function failure(seed: number): Mode {
  const planned = new Map<string, PlannedFailure>();
  return {
    deployed: { folder: 'proof/chaos', name: 'failure' },
    rate: 0.5,
    planned: (index) => {
      const start = plannedFailure(seed, index);
      planned.set(start.key, start);
      return start;
    },
    rulesLast: true,
    boundMs: (table) => healBoundMs(planOf(table, 'order'), LONGEST_CHAIN),
    judge: (facts, answered) => reportFailure({ ...facts, planned, answered }),
    hasPerson: true,
  };
}

function planOf({ plans }: TableContent, workflow: string) {
  const plan = [...plans.values()].find((one) => one.workflow === workflow);
  if (plan === undefined) throw new Error(`no execution of '${workflow}' was started`);
  return plan;
}
