/** Judges pauses, retries and points of no return, independently of the rules. */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';

/**
 * Checks that only an operator's retry leaves a terminal status, and only of a failed execution without any
 * undo.
 */
export function judgeRetry(before: Execution, after: Execution, { steps }: Snapshot): string[] {
  const isRetry =
    before.status === 'failed' && after.status === 'running' && after.epoch === before.epoch + 1;
  const left = isRetry ? [] : ['S1 a terminal status was left'];
  const back = Object.values(steps).filter(({ status }) => TAKEN_BACK.has(status));
  return [...left, ...back.map(({ name, status }) => `S10 tried again although '${name}' is ${status}`)];
}

const TAKEN_BACK: ReadonlySet<Step['status']> = new Set([
  'compensated',
  'compensating',
  'compensation-failed',
]);
const RENEWABLE: ReadonlySet<Step['status']> = new Set(['failed', 'fenced']);

/**
 * The record of an earlier epoch's step after a retry: its recovery begins again, or on the stage that may
 * have acted.
 */
export const asRestarted = (before: Step | undefined, after: Step): Step | undefined =>
  before === undefined || before.epoch === after.epoch || !RENEWABLE.has(before.status)
    ? before
    : { ...before, stage: before.mayHaveActed ? before.stage : 0, stageAttempt: 0 };

/** Checks that no step is undone after a point of no return, or while a step may be passing it. */
export function judgeWayBack(plan: Plan, snapshot: Snapshot, step: Step): string[] {
  const past = plan.steps.find(({ name, pointOfNoReturn }) => {
    const record = snapshot.steps[name];
    const isNear = record?.leaseUntil !== undefined && record.mode !== 'undo';
    return pointOfNoReturn === true && (record?.status === 'done' || isNear);
  });
  return past === undefined ? [] : [`S10 the undo of '${step.name}' began behind '${past.name}'`];
}

/** How old the steps' read of an execution's writer may be. */
const READ_BEFORE_MS = 15_000;

/** S9: after an inconclusive probe, each write of the execution records that it is at risk. */
export function judgeRisk({ steps }: Snapshot, after: Execution | undefined, now: number): string[] {
  if (after === undefined || after.endedAt !== undefined || after.riskSince !== undefined) return [];
  const asked = Object.values(steps).find(
    ({ status, probes, changedAt }) =>
      (status === 'unknown' || status === 'accepted' || status === 'probing') &&
      probes > 0 &&
      changedAt < now - READ_BEFORE_MS,
  );
  return asked === undefined ? [] : [`S9 '${asked.name}' cannot be settled, and it is not at risk`];
}

/** After the faults, every execution is evaluated within this time. */
const LOOKED_AT_WITHIN_MS = 1_200_000;

/**
 * L1: after a point of no return, the deadline does not end the execution, so a person must have been asked.
 */
export function judgeDeadline(
  plan: Plan,
  { execution, steps }: Snapshot,
  incidents: readonly Incident[],
): string[] {
  const isPast = plan.steps.some(
    ({ name, pointOfNoReturn }) => pointOfNoReturn === true && steps[name]?.status === 'done',
  );
  const overMs = (execution.endedAt ?? 0) - execution.deadlineAt;
  if (!isPast || overMs < LOOKED_AT_WITHIN_MS || incidents.some(({ kind }) => kind !== 'undo')) return [];
  return [`L1 it went on for ${overMs} ms behind a point of no return, and nobody was told`];
}
