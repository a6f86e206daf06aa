/**
 * Starts the next stage of a recovery if the outcome of the former stage cannot be found out: the former
 * stage is undone first.
 *
 * Owns: the move from the undo to the next stage, and the end of such an undo if the execution ends without
 * undoing. Does not own: when a stage is left this way (`step/report.ts`), the undo itself, which is work
 * like that of a tolerated failure (`step/ready.ts`).
 *
 * S18 At most one key of a step is in effect: the next stage begins once the undo has succeeded. S10 If the
 * execution is stopped meanwhile, this undo becomes the final one. Each of these writes is one transaction
 * with the execution.
 */

import { executionAfter, stepAfter, type StepChanges } from '../decisions/change.ts';
import { evaluateNext, writing } from '../decisions/decision.ts';
import type { StepEvent } from '../moves.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isLeased, isPerforming, type Step } from '../records/state.ts';
import { undoesNothing } from '../step/effect.ts';
import type { Rule } from '../step/rule.ts';

export const enterNextStage: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const move = isPerforming(execution.status) ? goOn : leaveAsItIs;
    for (const { name } of plan.steps) {
      const record = state.steps[name];
      if (record?.nextStage === undefined) continue;
      const found = move(record, state, event.now);
      if (found === undefined) continue;
      const step = stepAfter(record, found.move, event, { changedAt: event.now, ...found.changes });
      const records = { step, execution: executionAfter(execution, 'set-wake-time', event, {}) };
      const next = evaluateNext([name]);
      return writing(execution.id, records, next, { what: NOTES[found.move] ?? '', step: name });
    }
    return undefined;
  },
  dueAt: (_plan, { steps }) =>
    Object.values(steps).flatMap(({ name, status, nextStage, changedAt }) =>
      status === 'compensated' && nextStage !== undefined ? [{ at: changedAt, step: name }] : [],
    ),
  says: {
    'next-stage': 'the next stage of a recovery follows, because what the former one may have done is undone',
    'step-failed': 'an undo that would have led to another stage is left, because nothing is undone any more',
    'undo-given-up':
      'an undo that would have led to another stage is left, because nothing is undone any more',
  },
};

const NOTES: Readonly<Partial<Record<StepEvent, string>>> = {
  'next-stage': 'next-stage',
  'keep-effects': 'step-failed',
  'fail-undo': 'undo-given-up',
};

interface Move {
  readonly move: StepEvent;
  readonly changes: StepChanges;
}

const goOn = (record: Step, _state: Snapshot, now: number): Move | undefined =>
  record.status !== 'compensated' || record.nextStage === undefined
    ? undefined
    : {
        move: 'next-stage',
        changes: {
          stage: record.nextStage,
          // After accepted work that did not end in time, the same stage may follow.
          stageAttempt: record.nextStage === record.stage ? record.stageAttempt : 0,
          nextStage: undefined,
          givenInput: undefined,
          mayHaveActed: false,
          probes: 0,
          // The next stage has an undo of its own.
          undoAttempt: 0,
          undoDeferredAt: undefined,
          retryAt: now,
        },
      };

/**
 * Ends the undo with a write, because a process that read before the stop could still perform it; an undo in
 * progress is awaited.
 */
function leaveAsItIs(record: Step, state: Snapshot): Move | undefined {
  if (state.execution.status !== 'compensating' || !undoesNothing(state) || isLeased(record))
    return undefined;
  const changes = { nextStage: undefined, retryAt: undefined, undoDeferredAt: undefined };
  switch (record.status) {
    case 'failed':
      return { move: 'keep-effects', changes: { ...changes, status: 'failed' } };
    case 'compensating':
      return { move: 'fail-undo', changes: { ...changes, status: 'compensation-failed' } };
    default:
      return undefined;
  }
}
