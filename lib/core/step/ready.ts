/**
 * The open work of an execution: the pieces for which messages to agents should be on their way.
 *
 * Owns: the one definition of "ready", "due for a probe", "may be undone" and "must be fenced" that all roles
 * share. Does not own: sending messages (`evaluate.ts`), the claim (`execution/on-message.ts`).
 *
 * S7 a step is offered only when its predecessors are done, skipped or tolerated. S10 an undo is offered only
 * when the fence is complete and all that depends on the step is clear; if an outcome of the step was ever
 * unknown, also only after its process deadline.
 */

import { type AgentStep, dependentsOf, hasChildren, type Plan, type PlanStep } from '../plan/plan.ts';
import { resumedAt } from '../records/pauses.ts';
import type { Snapshot } from '../records/snapshot.ts';
import {
  isLeased,
  isPerforming,
  isSatisfied,
  type Mode,
  type NotBefore,
  type Step,
} from '../records/state.ts';
import { leftOutIn } from './left-out.ts';
import { effectOf, undoesNothing } from './effect.ts';
import { isFailureUndecided, mayHavePassed, undoable } from './point-of-no-return.ts';
import { attemptedVariant, isLeaving, variantOf } from './recovery.ts';
import {
  applies,
  hasOpenChildren,
  isTurnToBegin,
  isTurn,
  isUnbegun,
  mayFail,
  mayHaveChildren,
  turnAt,
} from './turn.ts';

export interface Work {
  /**
   * Its agent, limits and input: to execute, those of the current stage; to probe or to undo, those
   * of the latest attempt.
   */
  readonly step: AgentStep;
  readonly mode: Mode;
  /** The attempt's number; for a probe, that of the attempt it asks about. */
  readonly attempt: number;
  /** When this piece of work arose. */
  readonly sinceAt: number;
  /** When the work may begin; ≥ sinceAt. */
  readonly dueAt: number;
  /** Why the work is deferred until `dueAt`; absent if it is not deferred. */
  readonly deferred?: NotBefore;
}

/**
 * Identifies a piece of work among those of its execution; the next probe of the
 * same attempt is another piece.
 */
export const workKey = (work: Work): string =>
  `${work.step.name}/${work.mode}/${work.attempt}@${work.sinceAt}`;

/** The first step whose turn has come and whose condition does not hold. */
export const stepToSkip = (plan: Plan, snapshot: Snapshot): PlanStep | undefined =>
  plan.steps.find(
    (step) =>
      mayBeSkipped(step, snapshot.steps[step.name]) &&
      isTurn(step, snapshot) &&
      !applies(step, snapshot) &&
      // A condition that reads a left-out value is neither true nor false.
      leftOutIn(step.when, snapshot) === undefined,
  );

/**
 * A step of a waiting kind may be answered, or get a heartbeat, before its turn; an agent's step in
 * these statuses waits for a person.
 */
const mayBeSkipped = ({ kind }: PlanStep, record: Step | undefined): boolean =>
  isUnbegun(record) || (kind !== 'agent' && (record?.status === 'answered' || record?.status === 'waiting'));

/**
 * All open work, in plan order; bounded by the number of steps. While the execution is running, waiting or
 * following up, this is the work on the way forward; while it is compensating, the undos, once the fence is
 * complete.
 */
export function openWork(plan: Plan, snapshot: Snapshot): Work[] {
  const { status } = snapshot.execution;
  const work: Work[] = [];
  if (isPerforming(status)) {
    const waits = isFailureUndecided(plan, snapshot);
    // If a step has failed and a point of no return may have been passed, only two kinds of work continue
    // until that is known: the step with that point, and the undo of tolerated failures.
    for (const step of plan.steps)
      for (const piece of forwardWork(plan, step, snapshot))
        if (!waits || piece.mode === 'undo' || mayHavePassed(step, snapshot.steps[step.name]))
          work.push(piece);
  } else if (status === 'compensating' && isFenced(plan, snapshot) && undoable(plan, snapshot) === 'now') {
    for (const step of plan.steps)
      work.push(...awaitedWork(step, snapshot), ...undoWork(plan, step, snapshot));
  }
  return work;
}

/**
 * The work of agents on the way forward; the other kinds of steps begin by rules. A step is ready if it has
 * not begun, its predecessors are done, skipped or tolerated, and its condition holds (`turn.ts`). The next
 * attempt of a step that is `retrying`, or the probe of one that is `unknown`, is due at `retryAt`.
 */
function forwardWork(plan: Plan, step: PlanStep, snapshot: Snapshot): Work[] {
  if (step.kind !== 'agent') return [];
  const record = snapshot.steps[step.name];
  // Agents dropped messages during a pause, so the work counts as new since its end.
  const newAt = resumedAt(snapshot.execution);
  if (record === undefined || record.status === 'ready') {
    if (!isTurnToBegin(step, snapshot) || !applies(step, snapshot)) return [];
    const sinceAt = Math.max(turnAt(step, snapshot), record?.changedAt ?? 0, newAt);
    const attempt = (record?.attempt ?? 0) + 1;
    return [{ step: variantOf(step, record?.stage ?? 0), mode: 'execute', attempt, sinceAt, dueAt: sinceAt }];
  }
  // A retry of the execution may have restarted a predecessor, too (the step of a lane).
  const sinceAt = Math.max(record.changedAt, newAt);
  if (record.status === 'retrying')
    return isTurn(step, snapshot) ? [workOf(step, record, 'execute', sinceAt)] : [];
  if (record.status === 'unknown' || record.status === 'accepted')
    return [workOf(step, record, 'probe', sinceAt)];
  return mayBeUndone(plan, step, record) ? undoOfFailed(step, record, sinceAt) : [];
}

/** The next piece of work of a step that has a record. */
function workOf(
  step: AgentStep,
  record: Step,
  mode: Mode,
  sinceAt: number = record.changedAt,
  notBefore: number = record.retryAt ?? 0,
): Work {
  const attempt = { execute: record.attempt + 1, probe: record.attempt, undo: record.undoAttempt + 1 }[mode];
  const variant = mode === 'execute' ? variantOf(step, record.stage) : attemptedVariant(step, record);
  // The next stage need not know the outcome of a stage without effects, but that stage's attempt must be
  // dead.
  const quietAt = mode === 'execute' && isLeaving(step, record) ? effectOf(step, record).attemptsUntil : 0;
  const work = { step: variant, mode, attempt, sinceAt, dueAt: Math.max(sinceAt, notBefore, quietAt) };
  return record.deferred?.mode === mode ? { ...work, deferred: record.deferred } : work;
}

/**
 * True if a step may be undone while the execution goes forward: a tolerated failure, or before its next
 * stage.
 */
const mayBeUndone = (plan: Plan, step: AgentStep, record: Step): boolean =>
  record.nextStage !== undefined || mayFail(plan, step, record);

/** The undo of a failed step that may have acted: a tolerated failure leaves no effect. */
function undoOfFailed(step: AgentStep, record: Step, sinceAt: number): Work[] {
  const open = record.status === 'failed' || (record.status === 'compensating' && !isLeased(record));
  const { isOwed, attemptsUntil } = effectOf(step, record);
  if (!open || !isOwed) return [];
  return [workOf(step, record, 'undo', sinceAt, Math.max(record.retryAt ?? 0, attemptsUntil))];
}

/**
 * Probes of accepted work that cannot be stopped, even while the execution compensates: the steps on which it
 * depends are undone only afterwards.
 */
function awaitedWork(step: PlanStep, snapshot: Snapshot): Work[] {
  const record = snapshot.steps[step.name];
  if (step.kind !== 'agent' || record === undefined || undoesNothing(snapshot)) return [];
  if (!effectOf(step, record).isAwaited) return [];
  return [workOf(step, record, 'probe', Math.max(record.changedAt, resumedAt(snapshot.execution)))];
}

function undoWork(plan: Plan, step: PlanStep, snapshot: Snapshot): Work[] {
  if (step.kind !== 'agent') return [];
  const record = snapshot.steps[step.name];
  if (record === undefined || isLeased(record) || record.status === 'compensation-failed') return [];
  if (undoesNothing(snapshot)) return [];
  const { isOwed, attemptsUntil } = effectOf(step, record);
  const clearAt = isOwed ? dependentsClearAt(plan, step, snapshot) : undefined;
  if (clearAt === undefined) return [];
  const sinceAt = Math.max(record.changedAt, clearAt, snapshot.execution.cause?.at ?? 0);
  // In any other status `retryAt` belongs to work before the undo.
  const isOfUndo = record.status === 'compensating' || record.deferred?.mode === 'undo';
  const retryAt = isOfUndo ? (record.retryAt ?? 0) : 0;
  return [workOf(step, record, 'undo', sinceAt, Math.max(retryAt, attemptsUntil))];
}

/**
 * When all direct and indirect dependents of the step were clear: none is at work, can start, must be undone
 * or can still act. Undefined while one is not clear.
 */
export function dependentsClearAt(plan: Plan, step: PlanStep, snapshot: Snapshot): number | undefined {
  const queue = [...dependentsOf(plan, step.name)];
  const seen = new Set<string>();
  let clearAt = 0;
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next.name)) continue;
    seen.add(next.name);
    const record = snapshot.steps[next.name];
    const at = clearSince(next, record, false);
    if (at === undefined) return undefined;
    clearAt = Math.max(clearAt, at);
    queue.push(...dependentsOf(plan, next.name));
  }
  return clearAt;
}

/** Statuses in which an agent that read an older state can claim the step, now or after an answer. */
const CLAIMABLE: ReadonlySet<Step['status']> = new Set([
  'retrying',
  'accepted',
  'waiting',
  'answered',
  'unknown',
]);

/**
 * The time since which the step has had no lease, no open work, nothing to undo and nothing that may still
 * act; undefined if it has any. A step without a record can no longer start, because the fence was completed
 * before.
 * @param left true if effects are kept, so that they need no undo
 */
export function clearSince(step: PlanStep, record: Step | undefined, left: boolean): number | undefined {
  if (record === undefined) return 0;
  if (isLeased(record) || CLAIMABLE.has(record.status) || isWithChildren(step, record)) return undefined;
  const { isOwed, actsUntil } = effectOf(step, record);
  return isOwed && !left ? undefined : Math.max(record.changedAt, actsUntil);
}

/** True if its child executions are under way, or their ends have not arrived yet. */
const isWithChildren = (step: PlanStep, { status, children }: Step): boolean =>
  hasChildren(step) && (status === 'running' || status === 'compensating' || hasOpenChildren(children));

/** True if the fence is complete: no step that had not begun before the compensation can begin. */
const isFenced = (plan: Plan, snapshot: Snapshot): boolean =>
  stepToFence(plan, snapshot) === undefined && !plan.steps.some((step) => mayHaveChildren(step, snapshot));

/**
 * The first step to fence: one that a reader of an older state could still claim although the execution is
 * compensating. A step that may have acted and has an undo is undone instead: the undo's claim conflicts with
 * a stale claim.
 */
export const stepToFence = (plan: Plan, snapshot: Snapshot): PlanStep | undefined =>
  plan.steps.find((step) => {
    const record = snapshot.steps[step.name];
    if (record === undefined || record.status === 'ready')
      return isTurnToBegin(step, snapshot) && !mayHaveChildren(step, snapshot);
    if (!CLAIMABLE.has(record.status)) return false;
    if (undoesNothing(snapshot)) return true;
    const { isAwaited, isOwed } = effectOf(step, record);
    return !isAwaited && !isOwed;
  });

/**
 * True if every step is done, skipped or tolerated: an execution that goes forward, or is paused, has then
 * succeeded.
 */
export const isAllOver = (plan: Plan, steps: Snapshot['steps']): boolean =>
  plan.steps.every(({ name }) => isSatisfied(steps[name]));
