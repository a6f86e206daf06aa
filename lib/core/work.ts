/**
 * What an execution needs done now: the pieces of work for which a message should be on its way.
 *
 * Owns: the one definition of "ready", "due for a probe", "may be undone" and "must be fenced" that all roles share.
 * Does not own: who sends when (`look.ts`) or who may take a piece (`attempts.ts`).
 *
 * S7 a step is offered only when its predecessors are done or skipped. S10 an undo is offered only when the fence is
 * complete and everything that depends on the step is clear, and after `hardEnd` if any outcome was ever unknown.
 */

import type { Json } from './json.ts';
import { stageOf } from './ladder.ts';
import { type AgentStep, dependentsOf, type Plan, type PlanStep } from './plan.ts';
import { failureWaits, isNearNoReturn, mayBePast } from './point-of-no-return.ts';
import { evaluate, type Scope } from './refs.ts';
import { isForward, isHeld, isSettled, type Mode, pauseOf, type Snapshot, type Step } from './state.ts';

export interface Work {
  /** As it is on its current rung: agent, limits, input. */
  readonly step: AgentStep;
  readonly mode: Mode;
  /** The number the attempt will have (of a probe: of the attempt it asks about). */
  readonly attempt: number;
  /** When this piece of work came to be. */
  readonly sinceAt: number;
  /** Not before then; ≥ sinceAt. */
  readonly dueAt: number;
}

/** Identifies a piece of work among those of its execution; the next probe of the same attempt is another piece. */
export const workKey = (work: Work): string =>
  `${work.step.name}/${work.mode}/${work.attempt}@${work.sinceAt}`;

export const scopeOf = (snapshot: Snapshot): Scope => ({
  input: snapshot.execution.input,
  output: (step): Json | undefined => {
    const record = Object.hasOwn(snapshot.steps, step) ? snapshot.steps[step] : undefined;
    return record?.status === 'done' ? record.output : undefined;
  },
});

/** The step has no record yet, or one that counts as none (`counted.ts`). */
export const isUnbegun = (record: Step | undefined): boolean =>
  record === undefined || record.status === 'ready';

/** Nothing must be done before the step but to claim it. */
function isReady(step: PlanStep, snapshot: Snapshot): boolean {
  return isUnbegun(snapshot.steps[step.name]) && step.after.every((name) => isSettled(snapshot.steps[name]));
}

const applies = (step: PlanStep, snapshot: Snapshot): boolean =>
  step.when === undefined || evaluate(step.when, scopeOf(snapshot)) === true;

/** The first ready step whose condition does not hold. */
export const stepToSkip = (plan: Plan, snapshot: Snapshot): PlanStep | undefined =>
  plan.steps.find((step) => isReady(step, snapshot) && !applies(step, snapshot));

/** All the work there is, in plan order; bounded by the number of steps. */
export function openWork(plan: Plan, snapshot: Snapshot): Work[] {
  const { status } = snapshot.execution;
  if (isForward(status)) {
    const steps = failureWaits(plan, snapshot)
      ? plan.steps.filter((step) => mayBePast(step, snapshot.steps[step.name]))
      : plan.steps;
    return steps.flatMap((step) => forwardWork(step, snapshot));
  }
  if (status === 'undoing' && stepToSeal(plan, snapshot) === undefined && !isNearNoReturn(plan, snapshot)) {
    return plan.steps.flatMap((step) => undoWork(plan, step, snapshot));
  }
  return [];
}

function forwardWork(step: PlanStep, snapshot: Snapshot): Work[] {
  if (step.kind !== 'step') return [];
  const record = snapshot.steps[step.name];
  if (record === undefined || record.status === 'ready') {
    if (!isReady(step, snapshot) || !applies(step, snapshot)) return [];
    const sinceAt = Math.max(
      snapshot.execution.startedAt,
      record?.changedAt ?? 0,
      ...step.after.map((name) => snapshot.steps[name]?.changedAt ?? 0),
    );
    const attempt = (record?.attempt ?? 0) + 1;
    return [{ step: stageOf(step, record?.rung ?? 0), mode: 'execute', attempt, sinceAt, dueAt: sinceAt }];
  }
  const sinceAt = record.changedAt;
  const dueAt = Math.max(sinceAt, record.retryAt ?? 0);
  const stage = stageOf(step, record.rung);
  if (record.status === 'retrying') {
    return [{ step: stage, mode: 'execute', attempt: record.attempt + 1, sinceAt, dueAt }];
  }
  if (record.status === 'unknown') {
    return [{ step: stage, mode: 'probe', attempt: record.attempt, sinceAt, dueAt }];
  }
  return [];
}

/** Something of the step's may be in effect and must be compensated. */
export function needsUndo(step: PlanStep, record: Step | undefined): boolean {
  if (step.kind !== 'step' || record === undefined || stageOf(step, record.rung).undo === 'none')
    return false;
  switch (record.status) {
    case 'done':
    case 'undoing':
    case 'undo-failed':
    case 'unknown':
      return true;
    case 'retrying':
    case 'failed':
    case 'held':
    case 'waiting':
      return record.mayHaveActed;
    default:
      return false;
  }
}

/** A person said that nothing is to be undone. */
export const leavesAsIs = (snapshot: Snapshot): boolean => snapshot.execution.cause?.undo === false;

/** By then nothing of the step's attempts can still take effect. */
export const quietAt = (step: PlanStep, record: Step): number =>
  step.kind === 'step' && record.mayHaveActed ? record.hardEndAt + stageOf(step, record.rung).settleMs : 0;

function undoWork(plan: Plan, step: PlanStep, snapshot: Snapshot): Work[] {
  if (step.kind !== 'step') return [];
  const record = snapshot.steps[step.name];
  if (record === undefined || isHeld(record) || record.status === 'undo-failed') return [];
  if (leavesAsIs(snapshot)) return [];
  const clearAt = dependentsClearAt(plan, step, snapshot);
  if (!needsUndo(step, record) || clearAt === undefined) return [];
  const sinceAt = Math.max(record.changedAt, clearAt, snapshot.execution.cause?.at ?? 0);
  const retryAt = record.status === 'undoing' ? (record.retryAt ?? 0) : 0;
  const dueAt = Math.max(sinceAt, retryAt, quietAt(step, record));
  const stage = stageOf(step, record.rung);
  return [{ step: stage, mode: 'undo', attempt: record.undoAttempt + 1, sinceAt, dueAt }];
}

/**
 * When nothing that depends on the step, however far, works, may still start, waits to be undone or can still take
 * effect; nothing when that cannot be said yet.
 */
function dependentsClearAt(plan: Plan, step: PlanStep, snapshot: Snapshot): number | undefined {
  const queue = [...dependentsOf(plan, step.name)];
  const seen = new Set<string>();
  let clearAt = 0;
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next.name)) continue;
    seen.add(next.name);
    const record = snapshot.steps[next.name];
    if (!isClear(next, record, false)) return undefined;
    if (record !== undefined) clearAt = Math.max(clearAt, record.changedAt, quietAt(next, record));
    queue.push(...dependentsOf(plan, next.name));
  }
  return clearAt;
}

/** A reader of an older state may take the step from here, or a person may send it there. */
const CLAIMABLE: ReadonlySet<Step['status']> = new Set(['retrying', 'waiting', 'unknown', 'held']);

/** The step holds nothing and owes nothing. An absent one cannot start any more: the fence comes first. */
export const isClear = (step: PlanStep, record: Step | undefined, left: boolean): boolean =>
  !isHeld(record) &&
  (left || !needsUndo(step, record)) &&
  !(record !== undefined && CLAIMABLE.has(record.status));

/**
 * The fence: the first step that a reader of an older state could still claim although the execution is being undone.
 * One that may have acted and has an undo is undone instead; that claim conflicts with the stale one.
 */
export const stepToSeal = (plan: Plan, snapshot: Snapshot): PlanStep | undefined =>
  plan.steps.find((step) => {
    const record = snapshot.steps[step.name];
    if (record === undefined || record.status === 'ready') return isReady(step, snapshot);
    return CLAIMABLE.has(record.status) && (leavesAsIs(snapshot) || !needsUndo(step, record));
  });

/**
 * The fence of a pause: the first step that an agent with an older state could still claim. One that was held in an
 * earlier pause may have been seen since, so it is held again. Only what agents perform is claimed: of the other kinds
 * nothing starts but by a look, and a look at a paused execution starts nothing.
 */
export function stepToHold(plan: Plan, snapshot: Snapshot): PlanStep | undefined {
  const pause = pauseOf(snapshot.execution);
  if (pause === undefined) return undefined;
  return plan.steps.find((step) => {
    const record = snapshot.steps[step.name];
    if (step.kind !== 'step') return false;
    if (record?.status === 'held') return record.heldIn !== pause.number;
    return record?.status === 'retrying' || record?.status === 'unknown' || isReady(step, snapshot);
  });
}
