/**
 * An operator's filters for a list of executions, and the index that serves each.
 *
 * Owns: the filters, the choice of the index, which filters exclude each other, which executions match, what
 * is counted. Does not own: reading (`aws/dynamo-list.ts`), how a request spells a filter
 * (`api/requests.ts`).
 *
 * Never a scan: each filter has an index that is read in its order; the other filters drop items that were
 * read.
 */

import { isBuiltIn } from '../plan/built-in.ts';
import type { InboxKey } from '../records/question.ts';
import { atRiskSince, type Risk, riskOf } from '../records/risk.ts';
import { type Execution, isTerminal } from '../records/state.ts';
import { EXECUTION_STATUSES, type ExecutionStatus } from '../moves.ts';

export interface ListFilter {
  readonly workflow?: string;
  /** One of these: one status, or all of a group. */
  readonly statuses?: readonly ExecutionStatus[];
  /** Only executions that are open and at risk at that time. */
  readonly atRiskAt?: number;
  /** Content hash of the plan. */
  readonly plan?: string;
  /** None of these: the plans that new executions use. */
  readonly plansNot?: readonly string[];
  readonly tag?: Tag;
  /** The code of the failure that it ended with, or of an open incident. */
  readonly code?: string;
  /**
   * From this time on. It bounds the time that orders the list, or the start in lists that are ordered by the
   * wake time.
   */
  readonly since?: number;
  /** Before this time. */
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

/** When and why it ended badly. An execution without a cause never ran: it has taken the place of a child. */
export const badEndOf = ({
  status,
  cause,
  endedAt,
}: Execution): { readonly endedAt: number; readonly code: string } | undefined =>
  !STATUS_GROUPS.bad.includes(status) || cause === undefined || endedAt === undefined
    ? undefined
    : { endedAt, code: cause.failure.code };

/**
 * The orders of a list: latest start first; latest end first; latest first among those that ended with the
 * code, or ask with it; and, if there are more open executions than are sorted, earliest due first.
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

/** The conflict between the filters, in words for the caller; nothing if there is none. */
export function filterProblem({
  statuses,
  tag,
  code,
  atRiskAt,
  since,
  until,
}: ListFilter): string | undefined {
  if (tag !== undefined && code !== undefined)
    return 'tag and code do not go together: each is an index of its own; ask for one of them, with workflow, status, plan, atRisk, since or until';
  if (atRiskAt !== undefined && statuses !== undefined && statuses.every(isTerminal))
    return 'atRisk goes with status=open or the status of an open execution: what has ended is at no risk';
  if (since !== undefined && until !== undefined && since >= until) return 'since must be before until';
  return undefined;
}

/** Whether an execution in its present state matches the filter; the index decides about the time. */
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

/** A built-in workflow is listed only if it is named. */
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

/** Some of many: with `atLeast` there are more. */
export interface Bounded<Key> {
  readonly items: readonly Key[];
  readonly atLeast?: true;
}

/** Everything that is counted, without parts of lists: up to `MOST_OPEN` of each. */
export interface Survey {
  readonly open: Bounded<OpenKey>;
  readonly ended: Bounded<EndedKey>;
  /**
   * How many were started in that time. Absent if none has ended badly: then it is not shown, and counting
   * costs as much as everything else.
   */
  readonly begun?: {
    readonly count: number;
    readonly atLeast?: true;
    /** The executions of the latest part of that time, by their workflows. */
    readonly lately: Bounded<string>;
  };
  readonly inbox: Bounded<InboxKey>;
}

/** Whether an open execution may match, according to the index. */
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
