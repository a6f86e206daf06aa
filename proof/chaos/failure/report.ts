/**
 * The verdict on a run of the failure workflows. Pure.
 *
 * Owns: the summary (the JSON line), the conditions that fail a run, the lines that explain it. Does not own:
 * the checks (`audit.ts`, `../table-audit.ts`), what occurred (`features.ts`).
 */

import { planAt, storedHash } from '../../../lib/core/plan/child-plans.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { ExecutionStatus } from '../../../lib/core/moves.ts';
import { type Facts, missingFaults, type Run, runOf } from '../report.ts';
import { auditTable, type TableContent } from '../table-audit.ts';
import { auditFailure, type Finding, type FindingKind } from './audit.ts';
import { type Features, featuresOf, struckIn } from './features.ts';
import type { PlannedFailure } from './plan.ts';

export interface FailureFacts extends Facts {
  /** The planned failures, by idempotency key. */
  readonly planned: ReadonlyMap<string, Pick<PlannedFailure, 'scene' | 'ends'>>;
  /** How often each kind of question to a person was answered. */
  readonly answered: Readonly<Record<string, number>>;
}

export interface FailureSummary extends Run {
  /** How many executions ended in each status, by workflow, children included. */
  readonly executions: Readonly<Record<string, Readonly<Partial<Record<ExecutionStatus, number>>>>>;
  /** Attempts that a kill or a freeze ended, by workflow. */
  readonly struck: Readonly<Record<string, number>>;
  readonly cameAbout: Features;
  readonly answered: Readonly<Record<string, number>>;
  readonly doubled: number;
  readonly lost: number;
  /** Effects that no step claims. */
  readonly left: number;
  readonly stuck: number;
  /** Ends that were not announced, or that omit what is in effect. */
  readonly silent: number;
  /** A wrong mail, a mail too early, a wrong end, a key for two requests, a record that must not exist. */
  readonly findings: number;
}

export interface FailureReport {
  readonly summary: FailureSummary;
  readonly failures: readonly string[];
  readonly lines: readonly string[];
}

/** Workflows of which faults must meet an attempt; the others hardly have steps of their own. */
export const STRUCK = ['order', 'holiday', 'site', 'deploy-host'] as const;

/** The summary counts these itself; every other kind is a finding. */
const COUNTED: ReadonlySet<FindingKind> = new Set(['doubled', 'lost', 'left', 'silent']);

/** Shorter runs need not have seen everything. */
const LONG_ENOUGH_MINUTES = 3;

export function reportFailure(facts: FailureFacts): FailureReport {
  const table = withChildPlans(facts.table);
  const audited = auditTable(table, facts.keys);
  const planned = new Map(
    facts.keys.flatMap(({ key, executionIds }) => {
      const plan = facts.planned.get(key);
      return plan === undefined ? [] : executionIds.map((id) => [id, plan] as const);
    }),
  );
  const found = auditFailure({ table, entries: facts.entries, events: facts.events, planned });
  const count = (...kinds: FindingKind[]): number => found.filter(({ kind }) => kinds.includes(kind)).length;
  const others = [...audited.findings, ...facts.clientProblems];
  const summary: FailureSummary = {
    ...runOf(facts),
    executions: endsIn(table),
    struck: struckIn(table),
    cameAbout: featuresOf(table, facts.entries),
    answered: facts.answered,
    doubled: audited.doubled.length + count('doubled'),
    lost: audited.lost.length + count('lost'),
    left: count('left'),
    stuck: audited.stuck.length,
    silent: count('silent'),
    findings: others.length + found.filter(({ kind }) => !COUNTED.has(kind)).length,
  };
  return { summary, failures: failuresOf(summary), lines: linesOf(audited, found, others) };
}

/** A child's plan follows from its parent's; only the parent's is stored. */
export function withChildPlans({ snapshots, plans }: TableContent): TableContent {
  const all = new Map<string, Plan>();
  for (const { plan: id } of snapshots.map(({ execution }) => execution)) {
    const stored = plans.get(storedHash(id));
    const plan = stored === undefined ? undefined : planAt(stored, id);
    if (plan !== undefined) all.set(id, plan);
  }
  return { snapshots, plans: all };
}

export function endsIn({ snapshots }: TableContent): FailureSummary['executions'] {
  const ends: Record<string, Partial<Record<ExecutionStatus, number>>> = {};
  for (const { execution } of snapshots) {
    // A part of a list has its parent's name, and its author does not see it as an execution.
    if (execution.parent?.part === true) continue;
    const of = (ends[execution.workflow] ??= {});
    of[execution.status] = (of[execution.status] ?? 0) + 1;
  }
  return ends;
}

export const linesOf = (
  audited: ReturnType<typeof auditTable>,
  found: readonly Finding[],
  others: readonly string[],
): string[] => [
  ...audited.stuck.map((line) => `stuck     ${line}`),
  ...audited.lost.map((line) => `lost      ${line}`),
  ...audited.doubled.map((line) => `doubled   ${line}`),
  ...found.map(({ kind, executionId, detail }) => `${kind.padEnd(9)} ${executionId}: ${detail}`),
  ...others.map((line) => `finding   ${line}`),
];

export function failuresOf(summary: FailureSummary): string[] {
  const mustBeZero = (['lost', 'doubled', 'left', 'stuck', 'silent', 'findings'] as const)
    .filter((key) => summary[key] > 0)
    .map((key) => `${summary[key]} ${key}`);
  if (summary.minutes < LONG_ENOUGH_MINUTES) return mustBeZero;
  const never = Object.entries(summary.cameAbout).filter(([, times]) => times === 0);
  const unscathed = STRUCK.filter((name) => (summary.struck[name] ?? 0) === 0);
  return [
    ...mustBeZero,
    ...never.map(([name]) => `${name}: it never came about, so it was not tested`),
    ...unscathed.map((name) => `no attempt of ${name} was struck, so it was not tested`),
    ...missingFaults(summary),
  ];
}
