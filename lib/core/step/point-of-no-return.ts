/**
 * The point of no return: once such a step is done there is no way back, only forward.
 *
 * Owns: whether an execution can still be undone. Does not own: the rules for one that cannot
 * (`execution/end-rules.ts`, `questions/incident.ts`).
 *
 * S10 a step that may have acted counts as past the point until it is certain that it did not, so that
 * nothing is undone around a step that cannot be undone. Whether a child acted is known only at its recorded
 * end: from its possible creation until then, no step outside it is undone. L1 neither `undecided` nor
 * `after-stop` lasts: an attempt ends with its lease, probes and retries with their recovery, an incident
 * with its deadline, and a child is an execution with its own end.
 */

import type { Plan, PlanStep } from '../plan/plan.ts';
import { needsPerson, type Snapshot } from '../records/snapshot.ts';
import { isForward, isLeased, type Step } from '../records/state.ts';
import { hasOpenChildren, isFailureOpen, mayHaveChildren } from './turn.ts';

/**
 * When an execution can be undone. `undecided`: an attempt may pass the point, or may have passed it, and its
 * outcome is awaited. `after-stop`: a child may pass it, or has; it is stopped first, and its end decides.
 */
export type Undoable = 'now' | 'after-stop' | 'undecided' | 'never';

/** If steps differ, the later of these values counts. */
const EARLIEST_FIRST: readonly Undoable[] = ['now', 'after-stop', 'undecided', 'never'];

/** @param except a step whose own outcome must be decided */
export function undoable(plan: Plan, state: Snapshot, except?: string): Undoable {
  let way: Undoable = 'now';
  for (const step of plan.steps) {
    if (step.pointOfNoReturn !== true || step.name === except) continue;
    const behind = undoableBehind(step, state);
    if (EARLIEST_FIRST.indexOf(behind) > EARLIEST_FIRST.indexOf(way)) way = behind;
  }
  return way;
}

/**
 * For a question about the step: ignores an agent's step, whose outcome is asked about; how a child ended is
 * known.
 */
export const undoableBeside = (plan: Plan, state: Snapshot, { kind, name }: PlanStep): Undoable =>
  undoable(plan, state, kind === 'agent' ? name : undefined);

const undoableBehind = (step: PlanStep, state: Snapshot): Undoable =>
  step.kind === 'agent' ? behindAttempts(state.steps[step.name]) : behindChild(step, state);

function behindAttempts(record: Step | undefined): Undoable {
  if (record === undefined) return 'now';
  if (record.status === 'done') return 'never';
  if (isLeased(record)) return record.mode === 'undo' ? 'now' : 'undecided';
  if (!record.mayHaveActed) return 'now';
  // The agent answered, so the step has acted: a person is only asked for the right output.
  if (record.status === 'waiting' && record.wrongAnswer !== undefined) return 'never';
  return record.status === 'failed' || record.status === 'fenced' ? 'never' : 'undecided';
}

/**
 * Returns whether a child that is such a point can be undone. It counts before its creation is recorded,
 * because the process that created it may have died.
 */
function behindChild(step: PlanStep, state: Snapshot): Undoable {
  const { children } = state.steps[step.name] ?? {};
  if (children === undefined) return mayHaveChildren(step, state) ? 'after-stop' : 'now';
  if (hasOpenChildren(children)) return 'after-stop';
  return Object.values(children.ended).every(({ clean }) => clean) ? 'now' : 'never';
}

/**
 * True if a failure, the deadline or a cancel undoes everything: at once, or once a stopped child has
 * reported that this is possible.
 */
export const isUndoable = (plan: Plan, state: Snapshot): boolean => {
  const way = undoable(plan, state);
  return way === 'now' || way === 'after-stop';
};

/** True if an attempt of a step that cannot be undone is under way. */
export const isPointUnderWay = (plan: Plan, state: Snapshot): boolean =>
  plan.steps.some((step) => {
    const record = state.steps[step.name];
    return step.pointOfNoReturn === true && isLeased(record) && record.mode !== 'undo';
  });

/**
 * True if the end of the execution's time leads only to a question to a person, and no question is open
 * already. While an attempt of a point of no return is under way, it is false, because everything may still
 * be undone.
 */
export const isAskedAtDeadline = (plan: Plan, state: Snapshot): boolean =>
  isForward(state.execution.status) &&
  !isUndoable(plan, state) &&
  !isPointUnderWay(plan, state) &&
  !needsPerson(state);

export const mayHavePassed = (step: PlanStep, record: Step | undefined): boolean =>
  step.pointOfNoReturn === true && record?.mayHaveActed === true;

/**
 * True if a step has failed, but what follows depends on an open outcome. Until that is known nothing else
 * begins.
 */
export const isFailureUndecided = (plan: Plan, state: Snapshot): boolean =>
  plan.steps.some((step) => {
    const record = state.steps[step.name];
    return record?.status === 'failed' && !isFailureOpen(plan, step, record);
  }) && undoable(plan, state) === 'undecided';

/** The step that prevents an undo, or may, for the text of a refusal. */
export function lastPoint(plan: Plan, state: Snapshot): PlanStep | undefined {
  const way = undoable(plan, state);
  if (way === 'now') return undefined;
  return plan.steps.find((step) => step.pointOfNoReturn === true && undoableBehind(step, state) === way);
}
