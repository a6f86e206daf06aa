/**
 * The rules that end an execution: it succeeds, its undo is over, its end is announced.
 *
 * Owns: when each is due, and which end it is. Does not own: what follows an end without success
 * (`follow-up.ts`), how a stop begins (`stop.ts`).
 */

import { standingAtEnd } from '../operators/in-effect.ts';
import { isBefore, type Plan } from '../plan/plan.ts';
import { executionAfter } from '../decisions/change.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from '../decisions/decision.ts';
import { notifying } from '../decisions/news.ts';
import type { Ended } from '../records/ended.ts';
import { defined } from '../values/defined.ts';
import { hasUnannounced, needsPerson, type Snapshot } from '../records/snapshot.ts';
import { type Cause, isLeased, type Step } from '../records/state.ts';
import { leavesEffect, undoesNothing } from '../step/effect.ts';
import { clearSince, isAllOver } from '../step/ready.ts';
import type { Rule } from '../step/rule.ts';
import { endOf } from '../waiting/child-end.ts';
import { end, failedOnFailure, unannounced } from './follow-up.ts';
import { leftAfterEnd, staysInLane } from './lane-rules.ts';
import { withParent } from './on-child.ts';
import { storedOutput } from './output.ts';

export const succeed: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    // When everything is done nothing is left to pause; if an incident is open, its resolution comes first.
    if (needsPerson(state) || !isAllOver(plan, state.steps)) return undefined;
    // The wake time stays unchanged, so that the end is announced even if this process dies now; unless ends
    // are not announced.
    const succeeded = executionAfter(execution, 'succeed', event, {
      ...storedOutput(plan, state),
      ...unannounced(plan, state),
      endedAt: event.now,
    });
    const next = evaluateNext([], false);
    return writing(execution.id, { execution: succeeded }, next, { what: 'succeeded' });
  },
  says: { succeeded: 'it succeeds: every step is done, skipped or tolerated' },
  unread: true,
};

/** Ends the execution once nothing is at work and nothing is left to undo, and decides which end it is. */
export const endUndo: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    if (needsPerson(state)) return undefined;
    // Another process may be starting a child of a step that this evaluation could not stop.
    if (event.failing !== undefined) return undefined;
    const left = undoesNothing(state);
    const stuck = plan.steps.filter((step) => state.steps[step.name]?.status === 'compensation-failed');
    const rest = plan.steps.filter((step) => !stuck.includes(step));
    // Behind an undo that failed for good its predecessors stay as they are: undoing them would violate the
    // order.
    const open = rest.filter((step) => clearSince(step, state.steps[step.name], left) === undefined);
    if (open.some((step) => !stuck.some((other) => isBefore(plan, step.name, other.name)))) return undefined;
    if (open.some((step) => isLeased(state.steps[step.name]))) return undefined;
    const anyCompensated = plan.steps.some((step) => wasCompensated(state.steps[step.name]));
    const anyLeft = left || plan.steps.some((step) => leavesEffect(step, state.steps[step.name]));
    const move = endMove(execution.cause, anyCompensated, anyLeft);
    const cause =
      stuck.length === 0 || execution.cause === undefined
        ? {}
        : { cause: { ...execution.cause, failure: undoFailure(stuck.map((step) => step.name)) } };
    return end(plan, state, move, cause, event);
  },
  says: {
    compensated: 'it ends as compensated: everything that acted is undone',
    canceled: 'it ends as canceled: everything that acted is undone',
    failed: 'it ends as failed',
    'following-up': 'nothing is left to undo: its end is certain, and its on-failure steps begin',
  },
};

/** Whether the step was compensated, or a child execution of it undid itself. */
const wasCompensated = (record: Step | undefined): boolean =>
  record?.status === 'compensated' ||
  Object.values(record?.children?.ended ?? {}).some(({ status }) => status === 'compensated');

function endMove(
  cause: Cause | undefined,
  anyCompensated: boolean,
  anyLeft: boolean,
): 'fail' | 'cancel' | 'compensate' {
  if (anyLeft) return 'fail';
  if (cause?.kind === 'cancel' || cause?.kind === 'parent') return 'cancel';
  return anyCompensated ? 'compensate' : 'fail';
}

const undoFailure = (names: readonly string[]): Cause['failure'] => ({
  code: 'compensation-failed',
  message: `the effects of these steps could not be undone: ${names.join(', ')}`,
});

/** The notice of the end to its parent, unless it got one before the on-failure steps. */
const told = (plan: Plan, state: Snapshot): Pick<Decision, 'notifyParent'> => {
  const { parent, end: known } = state.execution;
  if (parent === undefined || known !== undefined) return {};
  return { notifyParent: { parent, end: endOf(plan, state) } };
};

/**
 * Announces the end; then the write that removes the wake time records the announcement, or the write that
 * lets the execution go on with its parent does.
 */
export const announce: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    // The process that wrote the end announces it, otherwise a supervisor: many processes may read it at the
    // same time.
    const another = event.by === 'agent' && event.lostRace === true;
    if (execution.wakeAt === undefined || another) return nothing();
    const gone = leftAfterEnd(execution, event);
    if (gone !== undefined) return gone;
    // Changes of its questions are announced before its end. The parent of a list's part waits for no
    // listener: each evaluation notifies it, and it accepts the same end once.
    if (hasUnannounced(state))
      return { ...nothing(), ...(execution.parent?.part === true ? told(plan, state) : {}) };
    const failed = failedOnFailure(plan, state);
    const ended: Ended = {
      about: 'end',
      executionId: execution.id,
      workflow: execution.workflow,
      status: execution.status,
      startedAt: execution.startedAt,
      endedAt: execution.endedAt ?? event.now,
      ...notifying(execution),
      ...defined({ startedBy: execution.startedBy, cause: execution.cause?.kind, by: execution.cause?.by }),
      ...defined({ standing: standingAtEnd(plan, state) }),
      ...(failed.length === 0 ? {} : { onFailureFailed: failed }),
    };
    const announced = executionAfter(execution, 'announce', event, {
      dispatches: {},
      ...staysInLane(execution, event),
    });
    const { parent, end: known } = execution;
    return {
      // Only its parent needs the end of a part of a list.
      ...(parent?.part === true || plan.announceEnds === false ? {} : { announce: ended }),
      ...told(plan, state),
      ...(known?.again === true
        ? withParent(plan, state, event)
        : writing(execution.id, { execution: announced }, IDLE)),
    };
  },
  says: { announced: 'its end is announced' },
  unread: true,
};
