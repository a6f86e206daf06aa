/**
 * The times until which steps wait that no agent performs: a wait for a time, a callback or an approval with its deadline.
 *
 * Owns: until when such a step waits, and what is written when its time has come. Does not own: an answer
 * (`waiting/callback.ts`), the step's entry in the inbox (`waiting/entry.ts`), the order of the rules (`execution/rules.ts`).
 *
 * L1 every callback has a deadline.
 */

import { timeOf } from '../plan/duration.ts';
import { type CallbackStep, isCallback, type Plan, type PlanStep, type WaitStep } from '../plan/plan.ts';
import { evaluateExpression } from '../plan/refs.ts';
import { blankStep, type DecisionInputs, stepAfter, type StepChanges } from '../records/change.ts';
import type { Failure } from '../records/failure.ts';
import type { StepEvent } from '../records/moves.ts';
import { openEntries, type Snapshot } from '../records/snapshot.ts';
import { type Execution, isForward, type Step, summedSince } from '../records/state.ts';
import { applies, isTurn, scopeOf, turnAt } from '../step/turn.ts';

/** When a wait whose turn has come is over; nothing when the data names no time. */
function elapsesAt(step: WaitStep, snapshot: Snapshot): number | undefined {
  if (step.forMs !== undefined) return turnAt(step, snapshot) + step.forMs;
  return timeOf(evaluateExpression(step.until ?? null, scopeOf(snapshot)));
}

/** When the time for the answer is over, or that for the next heartbeat. */
function expiresAt(step: CallbackStep, snapshot: Snapshot): number {
  const heardAt = Math.max(turnAt(step, snapshot), snapshot.steps[step.name]?.progressAt ?? 0);
  return Math.min(
    deadlineOf(step, snapshot),
    heardAt + (step.heartbeatMs ?? Number.POSITIVE_INFINITY) + pausedSince(snapshot.execution, heardAt),
  );
}

/** When the time for the answer is over, whatever heartbeats there are. */
export function deadlineOf(step: CallbackStep, snapshot: Snapshot): number {
  const sinceAt = turnAt(step, snapshot);
  return sinceAt + step.withinMs + pausedSince(snapshot.execution, sinceAt);
}

/** The external party has this much more time: a pause gives its time back. */
const pausedSince = ({ pauses, earlierPauses }: Execution, sinceAt: number): number =>
  (pauses ?? []).reduce(
    (sum, { at, endedAt }) => sum + Math.max(0, (endedAt ?? at) - Math.max(at, sinceAt)),
    earlierPauses === undefined ? 0 : summedSince(earlierPauses, sinceAt),
  );

/** Whether the step waits for a time or for the external party, and until when. */
export function waitsUntil(step: PlanStep, snapshot: Snapshot): number | undefined {
  const status = snapshot.steps[step.name]?.status ?? 'ready';
  if (!isTurn(step, snapshot) || !applies(step, snapshot)) return undefined;
  if (step.kind === 'wait') return status === 'ready' ? (elapsesAt(step, snapshot) ?? 0) : undefined;
  if (!isCallback(step)) return undefined;
  if (status === 'answered') return 0;
  return status === 'ready' || status === 'waiting' ? expiresAt(step, snapshot) : undefined;
}

/** The times until which steps wait, of all of them, and those of reminders. */
export const externalTimes = (plan: Plan, snapshot: Snapshot): number[] =>
  isForward(snapshot.execution.status)
    ? [
        ...plan.steps.flatMap((step) => waitsUntil(step, snapshot) ?? []),
        ...openEntries(snapshot).flatMap(({ remindAt }) => remindAt ?? []),
      ]
    : [];

const BAD_TIME: Failure = {
  code: 'bad-time',
  message: "'until' is neither epoch ms nor a date in ISO form with its zone",
};

/** The first step that is over because its time has come, or because it was answered before its turn. */
export function passTime(plan: Plan, snapshot: Snapshot, inputs: DecisionInputs): Step | undefined {
  if (!isForward(snapshot.execution.status)) return undefined;
  for (const step of plan.steps) {
    const untilAt = waitsUntil(step, snapshot);
    if (untilAt === undefined || untilAt > inputs.now) continue;
    const record = snapshot.steps[step.name] ?? blankStep(step.name, snapshot.execution);
    if (step.kind === 'wait') {
      return elapsesAt(step, snapshot) === undefined
        ? over(record, 'fail', inputs, { failure: BAD_TIME })
        : over(record, 'elapse', inputs, {});
    }
    if (!isCallback(step)) continue;
    if (record.status === 'answered')
      return over(record, record.failure === undefined ? 'complete' : 'reject', inputs, {});
    return unanswered(step, record, inputs);
  }
  return undefined;
}

/** What holds without an answer in time. An approval that nobody gave names nobody. */
function unanswered({ kind, otherwise }: CallbackStep, record: Step, inputs: DecisionInputs): Step {
  if (otherwise === 'approve')
    return over(record, 'elapse', inputs, { output: { approved: true }, failure: undefined, by: undefined });
  const failure =
    otherwise === 'reject'
      ? { code: 'rejected', message: 'it was not answered in time, and counts as rejected' }
      : { code: 'no-answer', message: `the ${kind} was not answered in time` };
  return over(record, 'expire', inputs, { failure, by: undefined });
}

export const over = (record: Step, event: StepEvent, inputs: DecisionInputs, changes: StepChanges): Step =>
  stepAfter(record, event, inputs, { changedAt: inputs.now, ...changes });
