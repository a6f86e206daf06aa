/**
 * Computes the instants of a step: when its turn comes, when its time ends, when none of its dependents can
 * act; and its record after a pause or a retry.
 *
 * Owns: these instants, computed independently from the records. Does not own: what is due then
 * (`oracle-wake.ts`), lateness (`oracle-times.ts`, `oracle-within.ts`).
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import { incidentsIn, type Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import { acceptedTill } from './oracle-accepted.ts';
import { actedAs, allDependents, reasonsAgainstUndo } from './oracle-order.ts';

/** When the step's turn came; undefined if it has not. */
export function turnOf(step: PlanStep, { execution, steps }: Snapshot): number | undefined {
  let at = Math.max(execution.startedAt, execution.retries?.at(-1)?.at ?? 0, execution.end?.at ?? 0);
  for (const name of step.after) {
    const { status = 'ready', changedAt = 0, epoch } = steps[name] ?? {};
    // A place in a lane counts only in its epoch.
    if (name === 'lane' && epoch !== execution.epoch) return undefined;
    if (status !== 'done' && status !== 'skipped' && status !== 'tolerated') return undefined;
    at = Math.max(at, changedAt);
  }
  return at;
}

/** A record as it counts after a retry of its execution; undefined for a step that begins anew. */
export function stepAfterRetry(
  step: PlanStep,
  record: Step | undefined,
  execution: Execution,
): Step | undefined {
  if (record === undefined || record.status === 'ready') return undefined;
  const isStale = record.epoch < execution.epoch && ['failed', 'fenced'].includes(record.status);
  if (!isStale) return record;
  if (!record.mayHaveActed || step.kind !== 'agent') return undefined;
  const { retryAt: _, deferred: _deferred, ...rest } = record;
  const changedAt = Math.max(record.changedAt, execution.retries?.at(-1)?.at ?? 0);
  const status = actedAs(step, record).effect === 'idempotent' ? 'retrying' : 'unknown';
  return { ...rest, status, changedAt };
}

/** When the step's time ends. A person's retry restarts it; a pause extends it. */
export function overTimeAt(
  name: string,
  withinMs: number,
  turnAt: number,
  { execution, questions = {} }: Snapshot,
): number {
  const again = incidentsIn({ questions }).flatMap(({ step, choice, closedAt }) =>
    step === name && choice?.startsWith('retry') === true ? [closedAt ?? 0] : [],
  );
  const sinceAt = Math.max(turnAt, ...again);
  const paused = (execution.pauses ?? []).map(({ at, endedAt = at }) =>
    Math.max(0, endedAt - Math.max(at, sinceAt)),
  );
  return sinceAt + withinMs + paused.reduce((sum, ms) => sum + ms, 0);
}

/** When no dependent of the step prevented its undo any longer; undefined if one still does. */
export function clearOf(plan: Plan, step: PlanStep, state: Snapshot): number | undefined {
  if (reasonsAgainstUndo(plan, state, step.name, Number.POSITIVE_INFINITY).length > 0) return undefined;
  let at = 0;
  for (const other of allDependents(plan, step.name)) {
    const record = state.steps[other.name];
    const quietAt =
      record?.mayHaveActed === true && other.kind === 'agent'
        ? Math.max(
            record.processDeadlineAt + actedAs(other, record).settleMs,
            acceptedTill(actedAs(other, record), record),
          )
        : 0;
    const below = Object.values(record?.children?.ended ?? {}).map(({ actsUntil = 0 }) => actsUntil);
    at = Math.max(at, record?.changedAt ?? 0, quietAt, ...below);
  }
  return at;
}
