/**
 * How an execution ends: why it stops, how it ends, and what follows until it is at rest.
 *
 * Owns: the rules that stop an execution or, if there is no way back, ask a person instead; when it succeeds
 * and when its undo is over; the write of the end; the notice to the parent; failures of on-failure steps;
 * the announcement. Does not own: which steps are undone (`step/ready.ts`), operators' commands
 * (`operators/obey.ts`), the plan of on-failure steps (`plan/on-failure.ts`), how they are tried and given up
 * (like any tolerated step: `step-rules.ts`, `questions/incident.ts`, `step/defer.ts`), whether a parent's
 * retry finds the end (`on-child.ts`).
 *
 * S21 one write makes the end, once nothing is left to undo or to ask; only then do on-failure steps begin,
 * and their outcome cannot change that end. The parent is notified of the end, with its version, before the
 * on-failure steps are over. L1 each step has its recovery, and a question about it is answered by its
 * deadline at the latest: no end waits for ever. A failure beside an open point of no return waits only for
 * that outcome, which is bounded. If the point is a child, the failure stops the execution, and the child
 * first of all (`child-rules.ts`).
 */

import {
  type DecisionInputs,
  executionAfter,
  type ExecutionChanges,
  moveExecution,
  stepAfter,
  stop,
  writingBoth,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, IDLE, nothing, writing } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import { notifying } from '../decisions/news.ts';
import type { ExecutionEvent } from '../moves.ts';
import { standingAtEnd } from '../operators/in-effect.ts';
import { onFailureSteps, storedPlanOf } from '../plan/on-failure.ts';
import { agentStep, isBefore, type Plan } from '../plan/plan.ts';
import type { Ended, FailedOnFailure } from '../records/ended.ts';
import { hasUnannounced, needsPerson, type Snapshot } from '../records/snapshot.ts';
import { type Cause, type Execution, isLeased, type Step } from '../records/state.ts';
import { effectOf, undoesNothing } from '../step/effect.ts';
import { isPointUnderWay, isUndoable, undoable } from '../step/point-of-no-return.ts';
import { clearSince, isAllOver } from '../step/ready.ts';
import type { Rule } from '../step/rule.ts';
import { failureOf } from '../step/turn.ts';
import { defined } from '../values/defined.ts';
import { endOf } from '../waiting/child-end.ts';
import { leftAfterEnd, staysInLane } from '../waiting/lane.ts';
import { withParent } from './on-child.ts';
import { storedOutput } from './output.ts';

export const failStep: Rule = {
  apply: (plan, state, event) => {
    const failed = failureOf(plan, state);
    if (failed === undefined) return undefined;
    const way = undoable(plan, state);
    if (way === 'undecided') return undefined;
    // A step that no agent performs has nothing to retry: it stays failed, and an operator may retry the
    // execution.
    const isStep = failed.status === 'failed' && agentStep(plan, failed.name) !== undefined;
    const isAsked = way === 'never' && isStep;
    if (isAsked) return askInstead(state, failed, event);
    const failure = failed.failure ?? { code: 'failed', message: 'the step failed' };
    const left = way === 'never' ? { undo: false as const } : {};
    return stop(state, event, { kind: 'failure', at: event.now, step: failed.name, failure, ...left });
  },
  says: {
    compensating: 'what has acted is undone',
    'no-way-back': 'a person is asked, because there is no way back',
  },
};

/**
 * Asks a person to find a way forward, because there is no way back; another rule opens the incident. The
 * write includes the execution's record: a stop does not write the failed step, so a process that read the
 * state before a stop or the end could otherwise still ask (S20).
 */
function askInstead(state: Snapshot, failed: Step, inputs: DecisionInputs): Decision {
  const step = stepAfter(failed, 'ask', inputs, {
    changedAt: inputs.now,
    retryAt: undefined,
    afterFailure: undefined,
  });
  return writingBoth(state, step, 'no-way-back', inputs);
}

/** Comes after `succeed`: an execution that finished in time is not undone because it was evaluated late. */
export const stopAtDeadline: Rule = {
  apply: (plan, state, event) => {
    if (event.now < state.execution.deadlineAt || !isUndoable(plan, state)) return undefined;
    const failure = { code: 'deadline', message: 'the execution did not end in time' };
    return stop(state, event, { kind: 'deadline', at: event.now, failure });
  },
  dueAt: (plan, state) =>
    isUndoable(plan, state)
      ? [
          {
            at: state.execution.deadlineAt,
            coming: () => ({ what: 'its time is over and it is undone', who: 'supervisor' }),
          },
        ]
      : [],
  says: { compensating: 'its time is over: what has acted is undone' },
};

/**
 * Leaves effects as they are, because the point of no return was passed, or may have been: by an attempt that
 * was claimed just as the execution was stopped, or by a child before it could be stopped. No undo has begun,
 * because none is offered before this is known (`openWork`).
 */
export const leaveEffects: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const { cause } = execution;
    if (cause === undefined || undoesNothing(state)) return undefined;
    if (isPointUnderWay(plan, state) || isUndoable(plan, state)) return undefined;
    const kept = executionAfter(execution, 'leave-effects', event, {
      cause: { ...cause, undo: false },
      wakeAt: event.now,
    });
    return writing(execution.id, { execution: kept }, evaluateNext('all'), { what: 'kept' });
  },
  says: { kept: 'what has acted is left as it is, because a point of no return was passed' },
};

export const succeed: Rule = {
  apply: (plan, state, event) => {
    // When all steps are done there is no work to pause; if an incident is open, its resolution comes first.
    if (needsPerson(state) || !isAllOver(plan, state.steps)) return undefined;
    return finalWrite(plan, state, 'succeed', storedOutput(plan, state), event);
  },
  says: { succeeded: 'it succeeds: every step is done, skipped or tolerated' },
  unread: true,
};

/** Ends the execution once no work is under way or left to undo, and decides how it ends. */
export const endUndo: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    if (needsPerson(state)) return undefined;
    // Another process may be starting a child of a step that this evaluation could not stop.
    if (event.failing !== undefined) return undefined;
    const left = undoesNothing(state);
    const stuck = plan.steps.filter((step) => state.steps[step.name]?.status === 'compensation-failed');
    const rest = plan.steps.filter((step) => !stuck.includes(step));
    // The predecessors of a step whose undo failed for good stay as they are: undoing them would violate the
    // order.
    const open = rest.filter((step) => clearSince(step, state.steps[step.name], left) === undefined);
    if (open.some((step) => !stuck.some((other) => isBefore(plan, step.name, other.name)))) return undefined;
    if (open.some((step) => isLeased(state.steps[step.name]))) return undefined;
    const anyCompensated = plan.steps.some((step) => wasCompensated(state.steps[step.name]));
    const anyLeft = left || plan.steps.some((step) => effectOf(step, state.steps[step.name]).isLeft);
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

/** True if the step was compensated, or one of its child executions undid itself. */
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

/** The notice of the end to the parent, unless it was sent before the on-failure steps. */
const told = (plan: Plan, state: Snapshot): Pick<Decision, 'notifyParent'> => {
  const { parent, end: known } = state.execution;
  if (parent === undefined || known !== undefined) return {};
  return { notifyParent: { parent, end: endOf(plan, state) } };
};

/**
 * Announces the end. The announcement is recorded by the write that removes the wake time, or by the write
 * that lets the execution go on with its parent.
 */
export const announce: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    // Only the process that wrote the end announces it, or else a supervisor, because many processes may read
    // the end at the same time.
    const another = event.by === 'agent' && event.lostRace === true;
    if (execution.wakeAt === undefined || another) return nothing();
    const gone = leftAfterEnd(execution, event);
    if (gone !== undefined) return gone;
    // Changes of its questions are announced before its end. The parent of a list's part need not wait for
    // that: each evaluation notifies it, and it accepts the same end once.
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

type EndMove = ExecutionEvent & ('fail' | 'cancel' | 'compensate');

/**
 * The write that makes an end final. The wake time stays, so that the end is announced even if this process
 * dies now. It is removed if no later evaluation is needed: the end is not announced, there is no parent to
 * notify and no place in a lane to hand on, and no change of a question is still to be announced.
 */
function finalWrite(
  plan: Plan,
  state: Snapshot,
  move: ExecutionEvent,
  changes: ExecutionChanges,
  event: Evaluation,
): Decision {
  const { execution } = state;
  const { parent, lane } = execution;
  const isAwaited = parent !== undefined || lane !== undefined || hasUnannounced(state);
  const atRest = plan.announceEnds === false && !isAwaited ? { wakeAt: undefined, dispatches: {} } : {};
  const after = executionAfter(execution, move, event, { ...changes, ...atRest, endedAt: event.now });
  return writing(execution.id, { execution: after }, evaluateNext([], false), { what: after.status });
}

/** Makes the end once there is nothing left to undo: at once, or with its on-failure steps. */
function end(
  plan: Plan,
  state: Snapshot,
  move: EndMove,
  changes: ExecutionChanges,
  event: Evaluation,
): Decision {
  const { execution } = state;
  // An execution that its parent stopped has no on-failure steps: the parent reacts by itself.
  if (plan.onFailure === undefined || execution.cause?.kind === 'parent') {
    return finalWrite(plan, state, move, changes, event);
  }
  const status = moveExecution(execution.status, move);
  const later = executionAfter(execution, 'follow-up', event, {
    ...changes,
    end: { status, at: event.now, version: execution.version + 1 },
    dispatches: {},
  });
  return writing(execution.id, { execution: later }, evaluateNext('all'), { what: 'following-up' });
}

/** Notifies the parent before the write, which records that the parent knows. */
export const notifyOfEnd: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const { parent, end: known } = execution;
    if (parent === undefined || known === undefined || known.parentKnows === true) return undefined;
    const notified = executionAfter(execution, 'set-wake-time', event, {
      end: { ...known, parentKnows: true },
    });
    return {
      ...writing(execution.id, { execution: notified }, evaluateNext()),
      notifyParent: { parent, end: endOf(storedPlanOf(plan), state) },
    };
  },
  says: { evaluate: 'its end is reported to its parent' },
};

const MOVES: Readonly<Partial<Record<Execution['status'], EndMove>>> = {
  failed: 'fail',
  canceled: 'cancel',
  compensated: 'compensate',
};

/** Ends the execution when all its on-failure steps are over, with or without success. */
export const finish: Rule = {
  apply: (plan, state, event) => {
    const move = MOVES[state.execution.end?.status ?? 'failed'];
    if (move === undefined || needsPerson(state) || !isAllOver(plan, state.steps)) return undefined;
    return finalWrite(plan, state, move, {}, event);
  },
  says: {},
};

/**
 * Returns the on-failure steps that failed for good, or got no answer in time; none before the end is
 * decided.
 */
function failedOnFailure(plan: Plan, { execution, steps }: Snapshot): readonly FailedOnFailure[] {
  if (execution.end === undefined) return [];
  return onFailureSteps(plan).flatMap(({ name }): FailedOnFailure[] => {
    const record = steps[name];
    if (record?.status !== 'tolerated' || record.epoch < execution.epoch) return [];
    const { failure, mayHaveActed } = record;
    return [
      { step: name, code: failure?.code ?? 'failed', ...(mayHaveActed ? { mayStand: true as const } : {}) },
    ];
  });
}
