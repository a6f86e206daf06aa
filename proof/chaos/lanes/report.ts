/**
 * The verdict on a run of the lanes workflow. Pure.
 *
 * Owns: the summary (the JSON line), the conditions that fail a run. Does not own: the checks (`observed.ts`,
 * `../failure/audit.ts`, `../table-audit.ts`).
 */

import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { ExecutionStatus } from '../../../lib/core/moves.ts';
import { auditFailure, type FindingKind } from '../failure/audit.ts';
import { struckIn } from '../failure/features.ts';
import { endsIn, linesOf, withChildPlans } from '../failure/report.ts';
import { type Facts, missingFaults, type Run, runOf } from '../report.ts';
import { auditTable } from '../table-audit.ts';
import { type Observed, observed } from './observed.ts';
import { AT_MOST } from './workflow.ts';

export interface LanesSummary extends Run {
  /** How many executions ended in each status, by workflow, rounds included. */
  readonly executions: Readonly<Record<string, Readonly<Partial<Record<ExecutionStatus, number>>>>>;
  /** Attempts that a kill or a freeze ended, by workflow. */
  readonly struck: Readonly<Record<string, number>>;
  readonly mostInLane: number;
  /** Each of these must have occurred. */
  readonly cameAbout: {
    readonly timesFull: number;
    readonly longestRounds: number;
    readonly walkedBack: number;
    /** Values that are stored outside the table. */
    readonly keptApart: number;
    /** Steps whose service accepted the work first. */
    readonly accepted: number;
  };
  readonly doubled: number;
  readonly lost: number;
  /** Effects that no step claims. */
  readonly left: number;
  readonly stuck: number;
  /** Too many in a lane, rounds out of order, a wrong end, a record that must not exist. */
  readonly findings: number;
}

export interface LanesReport {
  readonly summary: LanesSummary;
  readonly failures: readonly string[];
  readonly lines: readonly string[];
}

/** The summary counts these itself. */
const COUNTED: ReadonlySet<FindingKind> = new Set(['doubled', 'lost', 'left']);
/** A round's effects are still in place when the next one begins. */
const LEFT_OUT: FindingKind = 'too early';

/** Shorter runs need not have seen everything. */
const LONG_ENOUGH_MINUTES = 3;

export interface LanesFacts extends Facts {
  /** The keys of executions of which a part was declined for good. */
  readonly declined: ReadonlySet<string>;
}

export function reportLanes(facts: LanesFacts): LanesReport {
  const table = withChildPlans(facts.table);
  const audited = auditTable(table, facts.keys);
  const found = auditFailure({
    table,
    entries: facts.entries,
    events: facts.events,
    planned: new Map(),
  }).filter(({ kind }) => kind !== LEFT_OUT);
  const seen = observed(facts.entries, AT_MOST);
  const count = (kind: FindingKind): number => found.filter((one) => one.kind === kind).length;
  const others = [
    ...audited.findings,
    ...facts.clientProblems,
    ...seen.findings,
    ...failedWithoutCause(facts),
  ];
  const summary: LanesSummary = {
    ...runOf(facts),
    executions: endsIn(table),
    struck: struckIn(table),
    mostInLane: seen.mostInLane,
    cameAbout: cameAbout(table.snapshots, seen),
    doubled: audited.doubled.length + count('doubled'),
    lost: audited.lost.length + count('lost'),
    left: count('left'),
    stuck: audited.stuck.length,
    findings: others.length + found.filter(({ kind }) => !COUNTED.has(kind)).length,
  };
  return { summary, failures: failuresOf(summary), lines: linesOf(audited, found, others) };
}

function cameAbout(snapshots: readonly Snapshot[], seen: Observed): LanesSummary['cameAbout'] {
  const steps = snapshots.flatMap(({ steps: records }) => Object.values(records));
  const isApart = ({ outputAt, children }: (typeof steps)[number]): boolean =>
    outputAt !== undefined || children?.rounds?.inputAt !== undefined;
  return {
    timesFull: seen.timesFull,
    longestRounds: seen.longestRounds,
    walkedBack: seen.walkedBack,
    keptApart: steps.filter(isApart).length,
    accepted: steps.filter(({ attempts }) => attempts.some(({ outcome }) => outcome === 'accepted')).length,
  };
}

/** Work that no service declines is retried until it is done. */
function failedWithoutCause({ table, keys, declined }: LanesFacts): string[] {
  const keyOf = new Map(
    keys.flatMap(({ key, executionIds }) => executionIds.map((id) => [id, key] as const)),
  );
  return table.snapshots.flatMap(({ execution: { id, parent, status, cause } }) =>
    parent !== undefined || status !== 'failed' || declined.has(keyOf.get(id) ?? '')
      ? []
      : [`${id} has failed, and nothing of it was declined: ${cause?.failure.code ?? 'no cause'}`],
  );
}

export function failuresOf(summary: LanesSummary): string[] {
  const mustBeZero = (['lost', 'doubled', 'left', 'stuck', 'findings'] as const)
    .filter((key) => summary[key] > 0)
    .map((key) => `${summary[key]} ${key}`);
  if (summary.minutes < LONG_ENOUGH_MINUTES) return mustBeZero;
  const never = Object.entries(summary.cameAbout).filter(([, times]) => times === 0);
  return [
    ...mustBeZero,
    ...never.map(([name]) => `${name}: it never came about, so it was not tested`),
    ...missingFaults(summary),
  ];
}
