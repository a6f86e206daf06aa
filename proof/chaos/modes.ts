/**
 * The workflows that can be put under chaos: orders of the example, the workflows in which failure is part of
 * the plan, or one with a lane, rounds, large values and accepted work.
 *
 * Owns: for each mode what is deployed, what is started, how long it may take to heal, who judges. Does not
 * own: the load and the faults, which are the same for all.
 */

import { isTerminal } from '../../lib/core/records/state.ts';
import { healBoundMs } from './bounds.ts';
import { type FailureSummary, reportFailure } from './failure/report.ts';
import { type PlannedFailure, plannedFailure } from './failure/plan.ts';
import { type PlannedLaned, plannedLaned } from './lanes/plan.ts';
import { type LanesSummary, reportLanes } from './lanes/report.ts';
import { AT_MOST } from './lanes/workflow.ts';
import type { PlannedStart } from './load.ts';
import { plannedOrder } from './order-plan.ts';
import { type Facts, report, type Summary } from './report.ts';
import type { Deployed } from './stage.ts';
import type { TableContent } from './table-audit.ts';

export interface Verdict {
  readonly summary: Summary | FailureSummary | LanesSummary;
  readonly failures: readonly string[];
  readonly lines: readonly string[];
}

export interface Mode {
  readonly deployed: Deployed;
  /** Starts a second. */
  readonly rate: number;
  /** The rate of each agent. */
  readonly claimsPerSecond?: string;
  readonly planned: (index: number) => PlannedStart;
  /** The external services' rules decide how an execution must end: they outlast the faults. */
  readonly rulesLast: boolean;
  /** The time from the end of all faults to the end of the last execution. */
  readonly boundMs: (table: TableContent) => number;
  /** @param answered how often each kind of question to a person was answered */
  readonly judge: (facts: Facts, answered: Readonly<Record<string, number>>) => Verdict;
  /** A person answers the workflows' questions. */
  readonly hasPerson: boolean;
}

export const MODES = ['orders', 'failure', 'lanes'] as const;
export type ModeName = (typeof MODES)[number];

const MADE: Readonly<Record<ModeName, (seed: number) => Mode>> = { orders, failure, lanes };

export const modeOf = (name: ModeName, seed: number): Mode => MADE[name](seed);

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

/**
 * The most pages that one of its steps reads, besides the steps themselves; each page waits for the one
 * before.
 */
const LANED_CHAIN = 10;

function lanes(seed: number): Mode {
  const planned = new Map<string, PlannedLaned>();
  return {
    deployed: { folder: 'proof/chaos', name: 'lanes' },
    rate: 0.4,
    claimsPerSecond: '3/s',
    planned: (index) => {
      const start = plannedLaned(seed, index);
      planned.set(start.key, start);
      return start;
    },
    rulesLast: true,
    // The last in a lane's queue waits for all before it.
    boundMs: (table) =>
      healBoundMs(planOf(table, 'laned'), LANED_CHAIN * Math.ceil(longestQueue(table) / AT_MOST)),
    judge: (facts) => {
      const declined = new Set([...planned.values()].filter((one) => one.isDeclined).map(({ key }) => key));
      return reportLanes({ ...facts, declined });
    },
    hasPerson: false,
  };
}

/** The most unended executions of one account. */
function longestQueue({ snapshots }: TableContent): number {
  const counts = new Map<string, number>();
  for (const { execution } of snapshots) {
    if (execution.parent !== undefined || isTerminal(execution.status)) continue;
    const { account = '' } = (execution.input ?? {}) as { readonly account?: string };
    counts.set(account, (counts.get(account) ?? 0) + 1);
  }
  return Math.max(1, ...counts.values());
}

function planOf({ plans }: TableContent, workflow: string) {
  const plan = [...plans.values()].find((one) => one.workflow === workflow);
  if (plan === undefined) throw new Error(`no execution of '${workflow}' was started`);
  return plan;
}
