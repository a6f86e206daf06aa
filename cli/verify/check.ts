/**
 * The types of checks: rows of docs/not-verified.md, checked by a program or by hand.
 *
 * Owns: the types. Does not own: the checks (`checks/`), the ports (`local.ts`, `aws.ts`), the order
 * (`run.ts`).
 *
 * V1 a check that cannot run is 'not run' with a reason, and counts neither as passed nor as failed.
 */

import type { Need, Ports } from './ports.ts';

/** The phases in their order. */
export const PHASES = ['preflight', 'executions', 'traces', 'faults', 'aftermath', 'teardown'] as const;
export type Phase = (typeof PHASES)[number];

/** The headings of the page. */
export const AREAS = [
  'Account and template',
  'Executions',
  'API and access',
  'Triggers and events',
  'Supervision',
  'Observation and cost',
  'Agents elsewhere',
  'Upgrade and removal',
] as const;
export type Area = (typeof AREAS)[number];

interface PageRow {
  readonly id: string;
  readonly area: Area;
  /** The row of the page. */
  readonly row: string;
  /** Whether a failure would stop executions until a person acts. */
  readonly stops?: true;
}

export type Run = (ports: Ports) => Promise<Finding>;

export interface Check extends PageRow {
  readonly phase: Phase;
  readonly needs: readonly Need[];
  /** The expected result, for the report. */
  readonly expected: string;
  readonly run: Run;
}

/** A row that a person must check. */
export interface ByHand extends PageRow {
  /** Why a program cannot check it. */
  readonly byHand: string;
}

export type Entry = Check | ByHand;
export const isCheck = (entry: Entry): entry is Check => 'run' in entry;

export interface Finding {
  readonly ok: boolean;
  /** The figures, ids and names that the check found. */
  readonly evidence: string;
}

export const finding = (problems: readonly string[], evidence: string): Finding =>
  problems.length === 0 ? { ok: true, evidence } : { ok: false, evidence: cut(problems) };

const MOST_PROBLEMS = 5;
const cut = (problems: readonly string[]): string =>
  problems.length <= MOST_PROBLEMS
    ? problems.join('; ')
    : `${problems.slice(0, MOST_PROBLEMS).join('; ')}; and ${problems.length - MOST_PROBLEMS} more`;
