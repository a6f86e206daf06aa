/**
 * The times until which steps wait that no agent performs: a wait for a time, a callback or
 * an approval with its deadline.
 *
 * Owns: until when such a step waits, and what is written when its time has come. Does not own:
 * an answer (`waiting/callback.ts`), its question in the inbox (`questions/callback.ts`), the
 * order of the rules (`rules.ts`).
 *
 * L1 every callback has a deadline. A step whose own time is over (`within`) ends here, too.
 */

import { isIncident } from '../records/question.ts';
import { lengthMsOf, lengthProblem, timeOf, timeProblem } from '../values/duration.ts';
import {
  type CallbackStep,
  hasChildren,
  isCallback,
  type Plan,
  type PlanStep,
  type WaitStep,
} from '../plan/plan.ts';
import { evaluateExpression, type Expr } from '../plan/refs.ts';
import { blankStep, type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import type { Failure } from '../values/failure.ts';
import type { Json } from '../values/json.ts';
import type { StepEvent } from '../moves.ts';
import { openQuestions, type Snapshot } from '../records/snapshot.ts';
import { isForward, type Step } from '../records/state.ts';
import { leftOutIn } from '../step/left-out.ts';
import { applies, isTurn, scopeOf, turnAt } from '../step/turn.ts';
import { noPlace } from './lane.ts';
import { FAILED_FOR_TIME, pausedSince, timeOverAt } from '../step/within.ts';

/** When a wait whose turn has come is over; nothing when the data names no time. */
function elapsesAt(step: WaitStep, snapshot: Snapshot): number | undefined {
  if (step.forMs !== undefined) return turnAt(step, snapshot) + step.forMs;
  const isLeftOut = leftOutIn(exprOf(step), snapshot) !== undefined;
  if (isLeftOut) return undefined;
  if (step.for === undefined) return timeOf(readOf(step, snapshot));
  const lengthMs = lengthMsOf(readOf(step, snapshot));
  return lengthMs === undefined ? undefined : turnAt(step, snapshot) + lengthMs;
}

const exprOf = (step: WaitStep): Expr => step.for ?? step.until ?? null;
const readOf = (step: WaitStep, snapshot: Snapshot): Json | undefined =>
  evaluateExpression(exprOf(step), scopeOf(snapshot));

/** When the time for the answer is over, or that for the next heartbeat. */
function expiresAt(step: CallbackStep, snapshot: Snapshot): number {
  const aliveAt = Math.max(turnAt(step, snapshot), snapshot.steps[step.name]?.progressAt ?? 0);
  return Math.min(
    timeOverAt(step, snapshot),
    aliveAt + (step.heartbeatMs ?? Number.POSITIVE_INFINITY) + pausedSince(snapshot.execution, aliveAt),
  );
}

/** Whether the step waits for a time or for the external party, and until when. */
export function waitsUntil(step: PlanStep, snapshot: Snapshot): number | undefined {
  const status = snapshot.steps[step.name]?.status ?? 'ready';
  if (!isTurn(step, snapshot) || !applies(step, snapshot)) return undefined;
  if (step.kind === 'wait')
    return status === 'ready'
      ? Math.min(elapsesAt(step, snapshot) ?? 0, timeOverAt(step, snapshot))
      : undefined;
  if (step.kind === 'lane')
    return status === 'ready' || status === 'waiting' ? timeOverAt(step, snapshot) : undefined;
  if (!isCallback(step)) return undefined;
  if (status === 'answered') return 0;
  return status === 'ready' || status === 'waiting' ? expiresAt(step, snapshot) : undefined;
}

/**
 * When the time of a step that waits for no time and no answer is over, and that ends it:
 * no attempt of it is under way.
 */
export function endsAt(step: PlanStep, snapshot: Snapshot): number | undefined {
  if (step.withinMs === undefined || ['wait', 'lane'].includes(step.kind) || isCallback(step))
    return undefined;
  const { status = 'ready', children } = snapshot.steps[step.name] ?? {};
  const isOpen = hasChildren(step)
    ? status === 'ready' || status === 'retrying' || (status === 'running' && children?.stop === undefined)
    : status === 'ready' || status === 'retrying';
  const isItsTurn = isOpen && isTurn(step, snapshot) && (status !== 'ready' || applies(step, snapshot));
  return isItsTurn ? timeOverAt(step, snapshot) : undefined;
}

/**
 * The times until which steps wait, and at which the time of others is over, of all
 * of them, and those of reminders.
 */
export const externalTimes = (plan: Plan, snapshot: Snapshot): number[] =>
  isForward(snapshot.execution.status)
    ? [
        ...plan.steps.flatMap((step) => waitsUntil(step, snapshot) ?? endsAt(step, snapshot) ?? []),
        ...openQuestions(snapshot).flatMap((one) => (isIncident(one) ? [] : (one.remindAt ?? []))),
      ]
    : [];

/** Some wait for a time or for an answer. */
export const isWaiting = (plan: Plan, snapshot: Snapshot): boolean =>
  isForward(snapshot.execution.status) && plan.steps.some((step) => waitsUntil(step, snapshot) !== undefined);

const badTime = (step: WaitStep, snapshot: Snapshot): Failure =>
  leftOutIn(exprOf(step), snapshot) ?? {
    code: 'bad-time',
    message: (step.for === undefined ? timeProblem : lengthProblem)(readOf(step, snapshot)),
  };

/** Executions of its own are stopped first; between two tries there are none. */
export const mayPassTime = (step: PlanStep, { steps }: Snapshot): boolean =>
  !hasChildren(step) || steps[step.name]?.status === 'retrying';

/**
 * The first step that is over because its time has come or is over, or because
 * it was answered before its turn.
 */
export function passTime(plan: Plan, snapshot: Snapshot, inputs: DecisionInputs): Step | undefined {
  for (const step of plan.steps) {
    if (!mayPassTime(step, snapshot)) continue;
    const untilAt = waitsUntil(step, snapshot) ?? endsAt(step, snapshot);
    if (untilAt === undefined || untilAt > inputs.now) continue;
    const record = snapshot.steps[step.name] ?? blankStep(step.name, snapshot.execution);
    const elapsed = step.kind === 'wait' ? elapsesAt(step, snapshot) : undefined;
    if (step.kind === 'wait' && elapsed === undefined)
      return over(record, 'fail', inputs, { failure: badTime(step, snapshot) });
    if (elapsed === untilAt) return over(record, 'elapse', inputs, {});
    if (step.kind === 'lane') return over(record, 'expire', inputs, { failure: noPlace(step) });
    if (!isCallback(step)) {
      // Known to be done, and asked for again: a person is asked before it is undone.
      const move = record.wrongAnswer !== undefined && record.mayHaveActed ? 'overdue' : 'expire';
      return over(record, move, inputs, { ...FAILED_FOR_TIME, retryAt: undefined });
    }
    if (record.status === 'answered')
      return over(record, record.failure === undefined ? 'complete' : 'reject', inputs, {});
    return unanswered(step, record, inputs);
  }
  return undefined;
}

/** The default without an answer in time. An approval by default names no approver. */
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
