/**
 * How an execution leaves the straight path: a step that failed for good, a deadline, and the point of no
 * return.
 *
 * Owns: the rules that stop an execution or, if there is no way back, ask a person instead. Does not own:
 * what is undone then (`step/ready.ts`), operators' commands (`operators/obey.ts`).
 *
 * L1 a failure beside an open point of no return waits only for that outcome, which is bounded. Beside a
 * child that is such a point it stops the execution, and the child first of all (`child-rules.ts`).
 */

import { agentStep } from '../plan/plan.ts';
import { executionAfter, type DecisionInputs, stepAfter, stop } from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';
import { isPointUnderWay, isUndoable, undoable } from '../step/point-of-no-return.ts';
import { undoesNothing } from '../step/effect.ts';
import { failureOf } from '../step/turn.ts';
import type { Rule } from '../step/rule.ts';

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
 * There is no way back, so a person has to find one forward; another rule opens the incident. The write
 * includes the execution: a stop writes no failed step, so without it a process that read before a stop, or
 * the end, could still ask (S20).
 */
function askInstead(state: Snapshot, failed: Step, inputs: DecisionInputs): Decision {
  const step = stepAfter(failed, 'ask', inputs, {
    changedAt: inputs.now,
    retryAt: undefined,
    afterFailure: undefined,
  });
  const execution = executionAfter(state.execution, 'set-wake-time', inputs, {});
  const note = { what: 'no-way-back', step: failed.name };
  return writing(execution.id, { step, execution }, evaluateNext([failed.name]), note);
}

/** After `succeed`: an execution that finished in time is not undone because it was evaluated late. */
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
 * The point of no return was passed, or may have been: by an attempt that was claimed just as the execution
 * was stopped, or by a child before it could be stopped. No undo has begun, because none is offered before
 * this is known (`openWork`): effects stay as they are.
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
