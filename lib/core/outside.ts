/**
 * Steps that no agent performs: a wait for a time, a callback or an approval that the outside answers through the API.
 *
 * Owns: when such a step is over by itself, what an answer writes, and which times must be watched. Does not own: who may
 * answer (the token, `roles/callbacks.ts`), the order of the rules (`look.ts`).
 *
 * An answer is covered by no lease, so it is one transaction of the step and the execution, whose watch it draws near
 * (S12). An answer before the step's turn is kept and counts when the turn comes: an outside that is faster than the
 * report of the step that asked it loses nothing. L1 every callback has a deadline.
 */

import type { Decision, Note } from './decision.ts';
import type { Json } from './json.ts';
import { type CallbackStep, graphOf, type Plan, type PlanStep, type WaitStep } from './plan.ts';
import { evaluate } from './refs.ts';
import {
  type Execution,
  type Failure,
  isForward,
  isPausedOrPausing,
  type Snapshot,
  type Step,
  summedSince,
} from './state.ts';
import { canMoveStep, type StepEvent } from './transitions.ts';
import { applies, isTurn, scopeOf, turnAt } from './turn.ts';
import { blankStep, executionAfter, noLater, type Stamp, stepAfter, type StepChanges } from './write.ts';

export const isCallback = (step: PlanStep | undefined): step is CallbackStep =>
  step?.kind === 'callback' || step?.kind === 'approval';

/** Of a callback or approval step, by whoever holds its token. */
export type CallbackAnswer =
  | { readonly kind: 'complete'; readonly output: Json }
  | { readonly kind: 'fail'; readonly failure: Failure }
  | { readonly kind: 'beat' };

const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/** Epoch ms of what data or an author says; nothing when it is no time. */
export function timeOf(until: Json | undefined): number | undefined {
  const at =
    typeof until === 'string' && ISO.test(until) && isDay(until.slice(0, 10)) ? Date.parse(until) : until;
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined;
}

/** The 30th of February would be taken for the 2nd of March. */
function isDay(day: string): boolean {
  const at = Date.parse(day);
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(day);
}

/** When a wait whose turn has come is over; nothing when the data names no time. */
function elapsesAt(step: WaitStep, snapshot: Snapshot): number | undefined {
  if (step.forMs !== undefined) return turnAt(step, snapshot) + step.forMs;
  return timeOf(evaluate(step.until ?? null, scopeOf(snapshot)));
}

/** When nobody has answered in time: the whole answer, or a sign that somebody is at it. */
function expiresAt(step: CallbackStep, snapshot: Snapshot): number {
  const sinceAt = turnAt(step, snapshot);
  const heardAt = Math.max(sinceAt, snapshot.steps[step.name]?.progressAt ?? 0);
  return Math.min(
    sinceAt + step.withinMs + pausedSince(snapshot.execution, sinceAt),
    heardAt + (step.beatMs ?? Number.POSITIVE_INFINITY) + pausedSince(snapshot.execution, heardAt),
  );
}

/** The outside has this much more time, for whatever is paused waits for nobody. */
const pausedSince = ({ pauses, earlierPauses }: Execution, sinceAt: number): number =>
  (pauses ?? []).reduce(
    (sum, { at, endedAt }) => sum + Math.max(0, (endedAt ?? at) - Math.max(at, sinceAt)),
    earlierPauses === undefined ? 0 : summedSince(earlierPauses, sinceAt),
  );

/** Whether the step waits for a time or for the outside, and until when. */
export function waitsUntil(plan: Plan, step: PlanStep, snapshot: Snapshot): number | undefined {
  const status = snapshot.steps[step.name]?.status ?? 'ready';
  if (!isTurn(plan, step, snapshot) || !applies(step, snapshot)) return undefined;
  if (step.kind === 'wait') return status === 'ready' ? (elapsesAt(step, snapshot) ?? 0) : undefined;
  if (!isCallback(step)) return undefined;
  if (status === 'answered') return 0;
  return status === 'ready' || status === 'waiting' ? expiresAt(step, snapshot) : undefined;
}

/** The times until which steps wait, of all of them. */
export const outsideTimes = (plan: Plan, snapshot: Snapshot): number[] =>
  isForward(snapshot.execution.status)
    ? plan.steps.flatMap((step) => waitsUntil(plan, step, snapshot) ?? [])
    : [];

const BAD_TIME: Failure = {
  code: 'bad-time',
  message: "'until' is neither epoch ms nor a date in ISO form with its zone",
};

/** The first step that is over because its time has come, or because it was answered before its turn. */
export function passTime(plan: Plan, snapshot: Snapshot, stamp: Stamp): Step | undefined {
  if (!isForward(snapshot.execution.status)) return undefined;
  for (const step of plan.steps) {
    const untilAt = waitsUntil(plan, step, snapshot);
    if (untilAt === undefined || untilAt > stamp.now) continue;
    const record = snapshot.steps[step.name] ?? blankStep(step.name, snapshot.execution);
    if (step.kind === 'wait') {
      return elapsesAt(step, snapshot) === undefined
        ? over(record, 'fail', stamp, { failure: BAD_TIME })
        : over(record, 'elapse', stamp, {});
    }
    if (record.status === 'answered')
      return over(record, record.failure === undefined ? 'complete' : 'reject', stamp, {});
    const failure = {
      code: 'no-answer',
      message: `the ${step.kind} was not answered in time`,
    };
    return over(record, 'expire', stamp, { failure });
  }
  return undefined;
}

const over = (record: Step, event: StepEvent, stamp: Stamp, changes: StepChanges): Step =>
  stepAfter(record, event, stamp, { changedAt: stamp.now, ...changes });

/** Why an answer cannot be taken, or nothing. */
export function callbackProblem(plan: Plan, snapshot: Snapshot, name: string): string | undefined {
  const { status } = snapshot.execution;
  if (!isForward(status) && !isPausedOrPausing(status)) return `the execution is ${status}`;
  if (!isCallback(graphOf(plan).step.get(name))) return 'no such callback';
  const record = snapshot.steps[name]?.status ?? 'ready';
  return canMoveStep(record, 'answer') ? undefined : `'${name}' is ${record} already`;
}

/** The transaction of an answer. The caller has asked `callbackProblem`. */
export function answerCallback(
  plan: Plan,
  snapshot: Snapshot,
  name: string,
  answer: CallbackAnswer,
  stamp: Stamp & { readonly horizonMs: number },
): Decision {
  const step = graphOf(plan).step.get(name) as CallbackStep;
  const record = snapshot.steps[name] ?? blankStep(name, snapshot.execution);
  const { execution } = snapshot;
  // An answer during a pause is kept, and counts when the pause is over.
  const turn = isForward(execution.status) && isTurn(plan, step, snapshot) && applies(step, snapshot);
  const watchAt = noLater(execution, stamp.now + stamp.horizonMs);
  return {
    write: {
      executionId: execution.id,
      step: answered(record, answer, turn, stamp),
      execution: executionAfter(execution, 'adopt', stamp, { watchAt }),
    },
    sends: [],
    next: { kind: 'look', fresh: true, concern: [name] },
    notes: [noteOf(execution.id, name, answer.kind)],
  };
}

function answered(record: Step, answer: CallbackAnswer, turn: boolean, stamp: Stamp): Step {
  switch (answer.kind) {
    case 'beat':
      return stepAfter(record, 'beat', stamp, { progressAt: stamp.now, beat: record.beat + 1 });
    case 'complete':
      return over(record, turn ? 'complete' : 'answer', stamp, { output: answer.output });
    case 'fail':
      return over(record, turn ? 'reject' : 'answer', stamp, { failure: answer.failure });
  }
}

const noteOf = (executionId: string, step: string, detail: string): Note => ({
  what: 'answered',
  executionId,
  step,
  detail,
});
