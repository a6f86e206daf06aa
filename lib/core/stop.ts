/**
 * How an execution leaves the straight path: a step that failed for good, a deadline, and the point of no return.
 *
 * Owns: the rules of a look that stop an execution or, where there is no way back, ask a person instead. Does not own:
 * what is undone then (`work.ts`), operators' commands (`commands.ts`).
 *
 * L1 a failure beside an open point of no return waits for that outcome, which is bounded, and for nothing else. Beside a
 * child that is such a point it stops the execution, and the child first of all (`look-kinds.ts`).
 */

import type { Decision } from './decision.ts';
import type { Rule } from './look.ts';
import { agentStep } from './plan.ts';
import { isNearNoReturn, mayBeStopped, wayBack } from './point-of-no-return.ts';
import { type Cause, type Execution, isForward, type Snapshot, type Step } from './state.ts';
import { failedItems } from './turn.ts';
import { leavesAsIs } from './work.ts';
import { executionAfter, noLater, type Stamp, stepAfter } from './write.ts';

/** The write that stops an execution, after which everything is looked at. */
export function stop(state: Snapshot, stamp: Stamp, cause: Cause): Decision {
  const { execution } = state;
  return {
    write: {
      executionId: execution.id,
      execution: executionAfter(execution, 'stop', stamp, {
        cause,
        watchAt: noLater(execution, stamp.now),
        ...endedPause(execution, stamp.now),
      }),
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern: 'all' },
    notes: [
      {
        what: 'undoing',
        executionId: execution.id,
        ...(cause.step === undefined ? {} : { step: cause.step }),
        detail: cause.kind,
      },
    ],
  };
}

/** Of the pause under way, whichever way it ends. */
export const endedPause = (execution: Execution, now: number): Pick<Execution, 'pauses'> => {
  const last = execution.pauses?.at(-1);
  if (last === undefined || last.endedAt !== undefined) return {};
  return { pauses: [...(execution.pauses ?? []).slice(0, -1), { ...last, endedAt: now }] };
};

export const failStep: Rule = (plan, state, event) => {
  if (!isForward(state.execution.status)) return undefined;
  const given = failedItems(plan, state);
  const failed =
    plan.tolerated === undefined ? given.find(({ status }) => status === 'failed') : given[plan.tolerated];
  if (failed === undefined) return undefined;
  const way = wayBack(plan, state);
  if (way === 'open') return undefined;
  // Of what no agent performs there is nothing to be tried again: it is left as it is, for an operator to retry.
  const isStep = failed.status === 'failed' && agentStep(plan, failed.name) !== undefined;
  const isAsked = way === 'closed' && isStep;
  if (isAsked) return askInstead(state, failed, event);
  const failure = failed.failure ?? { code: 'failed', message: 'the step failed' };
  const left = way === 'closed' ? { undo: false as const } : {};
  return stop(state, event, { kind: 'failure', at: event.now, step: failed.name, failure, ...left });
};

/** There is no way back, so a person has to find one forward. The question itself is another rule's. */
const askInstead = (state: Snapshot, failed: Step, stamp: Stamp): Decision => ({
  write: {
    executionId: state.execution.id,
    step: stepAfter(failed, 'ask', stamp, { changedAt: stamp.now, retryAt: undefined }),
  },
  sends: [],
  next: { kind: 'look', fresh: true, concern: [failed.name] },
  notes: [{ what: 'no-way-back', executionId: state.execution.id, step: failed.name }],
});

/** After `succeed`: what was finished in time is not undone because nobody looked in time. */
export const passDeadline: Rule = (plan, state, event) => {
  const { status, deadlineAt } = state.execution;
  if (!isForward(status) || event.now < deadlineAt || !mayBeStopped(plan, state)) return undefined;
  const failure = { code: 'deadline', message: 'the execution was not over within its time' };
  return stop(state, event, { kind: 'deadline', at: event.now, failure });
};

/**
 * The point of no return was passed, or may have been: by an attempt that was claimed just as the execution was stopped, or
 * by a child before it could be stopped. No undo has begun, for none is offered before that is known (`openWork`): what has
 * acted stays as it is.
 */
export const keepPast: Rule = (plan, state, event) => {
  const { execution } = state;
  const { cause } = execution;
  if (execution.status !== 'undoing' || cause === undefined || leavesAsIs(state)) return undefined;
  if (isNearNoReturn(plan, state) || mayBeStopped(plan, state)) return undefined;
  return {
    write: {
      executionId: execution.id,
      execution: executionAfter(execution, 'keep', event, {
        cause: { ...cause, undo: false },
        watchAt: noLater(execution, event.now),
      }),
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern: 'all' },
    notes: [{ what: 'kept', executionId: execution.id }],
  };
};
