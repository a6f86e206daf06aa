/**
 * An operator's filters for a list of executions, and the index that serves each.
 *
 * Owns: the filters, choosing the index, which executions match, which items are counted: what both stores
 * must answer in the same way. Does not own: reading (`aws/dynamo-list.ts`), which filters exclude each other
 * (`scheduler/lists.ts`), how a request spells a filter (`api/requests.ts`).
 *
 * Never a scan: each filter has an index that is read in its order, and the other filters drop items after
 * reading.
 */

import { isBuiltIn } from '../plan/built-in.ts';
import type { InboxKey } from '../records/question.ts';
import { atRiskSince, type Risk, riskOf } from '../records/risk.ts';
import { type Execution, isTerminal } from '../records/state.ts';
import { EXECUTION_STATUSES, type ExecutionStatus } from '../moves.ts';

export interface ListFilter {
  readonly workflow?: string;
  /** Only executions with one of these statuses: a single one, or all of a group. */
  readonly statuses?: readonly ExecutionStatus[];
  /** Only executions that are open and at risk at that time. */
  readonly atRiskAt?: number;
  /** Content hash of the plan. */
  readonly plan?: string;
  /** Excludes these plans: those that new executions use. */
  readonly plansNot?: readonly string[];
  readonly tag?: Tag;
  /** The code of the failure with which the execution ended, or of its open incident. */
  readonly code?: string;
  /** The earliest time: the one that orders the list, or the start in lists that are ordered by wake time. */
  readonly since?: number;
  /** The time before which the listed executions are. */
  readonly until?: number;
}

export interface Tag {
  readonly name: string;
  readonly value: string;
}

/** Groups of statuses: under way, and every end except success. */
export const STATUS_GROUPS: Readonly<Record<'open' | 'bad', readonly ExecutionStatus[]>> = {
  open: EXECUTION_STATUSES.filter((status) => !isTerminal(status)),
  bad: EXECUTION_STATUSES.filter((status) => isTerminal(status) && status !== 'succeeded'),
};

/** When and why it ended badly. An execution without a cause never ran: it took the place of a child. */
export const badEndOf = ({
  status,
  cause,
  endedAt,
}: Execution): { readonly endedAt: number; readonly code: string } | undefined =>
  !STATUS_GROUPS.bad.includes(status) || cause === undefined || endedAt === undefined
    ? undefined
    : { endedAt, code: cause.failure.code };

/**
 * The orders of a list: latest start first; latest end first; latest end with, or question about, the code
 * first; and earliest due first, if there are more open executions than are sorted.
 */
export const ORDERS = ['startedAt', 'endedAt', 'codeAt', 'wakeAt'] as const;
export type ListOrder = (typeof ORDERS)[number];

/** How many open executions are sorted by their start, and counted. */
export const MOST_OPEN = 10_000;

/** The index that is read: of workflows, of tags, of codes, of bad ends, or of open executions. */
export type ListIndex = 'list' | 'tag' | 'code' | 'ended' | 'wake';

export function indexFor({ statuses, tag, code, atRiskAt, plan, plansNot }: ListFilter): ListIndex {
  if (tag !== undefined) return 'tag';
  if (code !== undefined) return 'code';
  if (statuses?.every((status) => STATUS_GROUPS.bad.includes(status))) return 'ended';
  if (statuses?.every((status) => !isTerminal(status))) return 'wake';
  const isOfOpen = [atRiskAt, plan, plansNot].some((one) => one !== undefined);
  return statuses === undefined && isOfOpen ? 'wake' : 'list';
}

/** True if an execution in its present state matches the filter; the index decides about the time. */
export function isListed(execution: Execution, filter: ListFilter): boolean {
  const { statuses, atRiskAt } = filter;
  return (
    isOfWorkflow(execution, filter) &&
    (statuses === undefined || statuses.includes(execution.status)) &&
    isOfPlan(execution, filter) &&
    (indexFor(filter) !== 'wake' || !isTerminal(execution.status)) &&
    (atRiskAt === undefined || atRiskSince(riskOf(execution), atRiskAt) !== undefined)
  );
}

/** True if the workflow matches; a built-in one only if it is named. */
export const isOfWorkflow = (
  { workflow: name }: { readonly workflow: string },
  { workflow }: ListFilter,
): boolean => (workflow === undefined ? !isBuiltIn(name) : name === workflow);

export const isOfPlan = (
  { plan: hash }: { readonly plan: string },
  { plan, plansNot = [] }: Pick<ListFilter, 'plan' | 'plansNot'>,
): boolean => (plan === undefined || hash === plan) && !plansNot.includes(hash);

/** The fields of an open execution that the index has. */
export interface OpenKey extends Risk {
  readonly executionId: string;
  readonly workflow: string;
  readonly plan: string;
  readonly startedAt: number;
  readonly wakeAt: number;
}

/** The fields by which executions that ended without success are counted. */
export interface EndedKey {
  readonly workflow: string;
  readonly startedAt: number;
  readonly status: ExecutionStatus;
  readonly code: string;
}

/** Some of many items; `atLeast` is set if there are more. */
export interface Bounded<Key> {
  readonly items: readonly Key[];
  readonly atLeast?: true;
}

/** Everything that is counted, without parts of lists: up to `MOST_OPEN` of each. */
export interface Survey {
  readonly open: Bounded<OpenKey>;
  readonly ended: Bounded<EndedKey>;
  /**
   * How many executions were started in that time. Absent if none has ended badly: the number is not shown
   * then, and counting it costs as much as everything else.
   */
  readonly begun?: {
    readonly count: number;
    readonly atLeast?: true;
    /** The executions of the latest part of that time, by their workflows. */
    readonly lately: Bounded<string>;
  };
  readonly inbox: Bounded<InboxKey>;
}

/** True if an open execution may match, as far as the index shows. */
export const mayBeListed = (key: OpenKey, filter: ListFilter): boolean => {
  const { statuses, atRiskAt, since = 0, until = Number.POSITIVE_INFINITY } = filter;
  return (
    isOfWorkflow(key, filter) &&
    (statuses === undefined || statuses.includes(key.status)) &&
    isOfPlan(key, filter) &&
    key.startedAt >= since &&
    key.startedAt < until &&
    (atRiskAt === undefined || atRiskSince(key, atRiskAt) !== undefined)
  );
};
