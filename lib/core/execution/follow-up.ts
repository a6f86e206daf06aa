/**
 * What follows an end without success: the write that makes the end, the notice to the parent, and the status
 * once everything is over.
 *
 * Owns: when an execution follows up, what is kept of its end meanwhile, and what is reported about failed
 * on-failure steps. Does not own: the plan of its decisions (`plan/on-failure.ts`), how the steps are tried
 * and given up (like any tolerated step: `tolerate.ts`, `questions/incident.ts`, `step/defer.ts`), whether a
 * parent's retry finds it (`on-child.ts`).
 *
 * S21 one write makes the end, once nothing must be undone or asked any more; only then do on-failure steps
 * begin, and their outcome cannot change that end. A parent learns of that very end, with its version, before
 * they are over. L1 each step has its recovery, and a question about it is answered by its deadline at the
 * latest: no end waits for ever.
 */

import { onFailureSteps, storedPlanOf } from '../plan/on-failure.ts';
import type { Plan } from '../plan/plan.ts';
import {
  executionAfter,
  type DecisionInputs,
  type ExecutionChanges,
  moveExecution,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { FailedOnFailure } from '../records/ended.ts';
import type { Evaluation } from '../decisions/events.ts';
import type { ExecutionEvent } from '../moves.ts';
import { hasUnannounced, needsPerson, type Snapshot } from '../records/snapshot.ts';
import { type Execution, isSatisfied } from '../records/state.ts';
import { endOf } from '../waiting/child-end.ts';
import type { Rule } from '../step/rule.ts';

type EndMove = ExecutionEvent & ('fail' | 'cancel' | 'compensate');

/**
 * An end that is not announced, and that nothing else waits for, needs no later evaluation: no parent is
 * notified, no place in a lane is handed on, and no change of a question must still be announced.
 */
export const unannounced = (plan: Plan, state: Snapshot): ExecutionChanges => {
  const { parent, lane } = state.execution;
  const isAwaited = parent !== undefined || lane !== undefined || hasUnannounced(state);
  return plan.announceEnds === false && !isAwaited ? { wakeAt: undefined, dispatches: {} } : {};
};

/** Makes the end once nothing is left to undo: at once, or with its on-failure steps. */
export function end(
  plan: Plan,
  state: Snapshot,
  move: EndMove,
  changes: ExecutionChanges,
  event: Evaluation,
): Decision {
  const { execution } = state;
  // The execution above reacts to its failure by itself.
  if (plan.onFailure === undefined || execution.cause?.kind === 'parent') {
    const ended = executionAfter(execution, move, event, {
      ...changes,
      ...unannounced(plan, state),
      endedAt: event.now,
    });
    return writing(execution.id, { execution: ended }, evaluateNext([], false), {
      what: ended.status,
    });
  }
  const status = moveExecution(execution.status, move);
  const later = executionAfter(execution, 'follow-up', event, {
    ...changes,
    end: { status, at: event.now, version: execution.version + 1 },
    dispatches: {},
  });
  return writing(execution.id, { execution: later }, evaluateNext('all'), { what: 'following-up' });
}

/** The parent is notified before the write, which records that it knows. */
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

/** All on-failure steps are over, with or without success. */
export const finish: Rule = {
  apply: (plan, state, event) => {
    const { execution, steps } = state;
    const move = MOVES[execution.end?.status ?? 'failed'];
    if (move === undefined || needsPerson(state)) return undefined;
    if (!plan.steps.every(({ name }) => isSatisfied(steps[name]))) return undefined;
    const ended = executionAfter(execution, move, event, {
      ...unannounced(plan, state),
      endedAt: event.now,
    });
    const next = evaluateNext([], false);
    return writing(execution.id, { execution: ended }, next, { what: ended.status });
  },
  says: {},
};

/** The on-failure steps that failed for good, or got no answer in time; none before they are decided on. */
export function failedOnFailure(plan: Plan, { execution, steps }: Snapshot): readonly FailedOnFailure[] {
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

/**
 * The end after a write has ruled out another try: at a later version, so that a parent counts it as a new
 * end.
 */
export const closedEnd = ({
  end: known,
  lane,
  version,
}: Execution): Pick<ExecutionChanges, 'end' | 'lane'> => {
  if (known === undefined) return lane === undefined ? {} : { lane: { ...lane, endVersion: version + 1 } };
  const { again: _, ...kept } = known;
  return { end: { ...kept, version: version + 1 } };
};

/**
 * The parent was retried before the end was announced; the announcement comes first. Nothing if this was
 * recorded already.
 */
export const goingOnLater = (execution: Execution, inputs: DecisionInputs): Decision | undefined => {
  const { end: known } = execution;
  if (known === undefined || execution.wakeAt === undefined) return undefined;
  const asked = executionAfter(execution, 'set-wake-time', inputs, { end: { ...known, again: true } });
  return writing(execution.id, { execution: asked }, { kind: 'idle' });
};
