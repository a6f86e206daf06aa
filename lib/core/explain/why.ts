/**
 * Why: what happened to an execution, what its state rests on, and what happens next and when.
 *
 * Owns: the words. Does not own: any rule: what is next is read off the very functions by which the roles decide
 * (`decide` for now, `openWork` and `set-wake-time` for later), so that an explanation cannot differ from what is done. The past
 * is in `history.ts`.
 */

import { decide } from '../decide.ts';
import { effectiveState } from '../execution/effective-state.ts';
import { choiceOfTime } from '../operators/resolution.ts';
import { isOnFailure, planDuring, shownSteps } from '../plan/on-failure.ts';
import { graphOf, type Plan, type PlanStep } from '../plan/plan.ts';
import { given } from '../records/given.ts';
import type { Choice, Incident } from '../records/incident.ts';
import { askedAboutPause, openIncidents, type Snapshot } from '../records/snapshot.ts';
import {
  isForward,
  isLeased,
  isPausedOrPausing,
  isSatisfied,
  isTerminal,
  pauseOf,
} from '../records/state.ts';
import { leaseEndsAt } from '../step/lease.ts';
import { failureWaits, isAskedAtDeadline, lastPoint, mayBeStopped } from '../step/point-of-no-return.ts';
import { isClear, needsUndo, openWork, type Work, workKey } from '../step/ready.ts';
import { isBetweenStages, isTurn, mayFail, shownStatus } from '../step/turn.ts';
import { dispatchDueAt, wasSentSinceDeferred } from '../supervision/wake-time.ts';
import { endsAt } from '../waiting/timer.ts';
import { becauseDeferred, type Breakers } from './deferred.ts';
import { DEED, past } from './history.ts';
import { becauseOfWaiting, DUE_OF_WAITING, dueWithChildren, nextOfWaiting } from './waiting.ts';
import { type IsDeployed, warningsOf } from './warnings.ts';
import { type Happened, inBrackets, type Next } from './words.ts';
import { timeText } from '../records/text.ts';

export interface Explanation {
  readonly executionId: string;
  readonly status: string;
  readonly past: readonly Happened[];
  readonly steps: readonly {
    readonly name: string;
    readonly status: string;
    readonly because: string;
    readonly next: Next;
  }[];
  /** The earliest of what is next. */
  readonly next: Next;
  /** What an operator has to put right around it, a sentence each: a supervisor that is late, an agent that is not deployed. */
  readonly warnings: readonly string[];
}

/**
 * @param now epoch ms
 * @param isDeployed of an agent; what is not known to be missing is there
 * @param breakers as they are now, of those that are known
 * @returns past, reasons, what is next and what is in its way; total and pure
 */
export function explain(
  plan: Plan,
  stored: Snapshot,
  now: number,
  isDeployed: IsDeployed = () => true,
  breakers: Breakers = new Map(),
): Explanation {
  const state = effectiveState(plan, stored);
  const during = planDuring(plan, state.execution);
  const work = openWork(during, state);
  const steps = shownSteps(plan, state).map((step) => ({
    name: step.name,
    status: shownStatus(step, state),
    because: because(isOnFailure(plan, step.name) ? during : plan, step, state, breakers),
    next: { ...nextOfStep(plan, step, state, work, isDeployed), step: step.name },
  }));
  const nexts = steps.map(({ next }) => next);
  return {
    executionId: state.execution.id,
    status: state.execution.status,
    past: past(plan, state),
    steps,
    next: nextOf(plan, state, nexts, now),
    warnings: warningsOf(plan, state, work, now, isDeployed),
  };
}

function because(plan: Plan, step: PlanStep, state: Snapshot, breakers: Breakers): string {
  const record = state.steps[step.name];
  const toBeUndone = needsUndo(step, record) && state.execution.status === 'compensating';
  const ofKind = becauseOfWaiting(step, state);
  if (ofKind !== undefined) return ofKind;
  if (record === undefined || record.status === 'ready') return becauseUnbegun(plan, step, state);
  if (isLeased(record)) {
    return `an agent holds it (${DEED[record.mode]} ${record.mode === 'undo' ? record.undoAttempt : record.attempt}), heartbeat ${record.heartbeat}${record.heartbeatAt === undefined ? '' : ` at ${timeText(record.heartbeatAt)}`}`;
  }
  const acted = record.mayHaveActed ? '; an attempt of unknown outcome may have acted' : '';
  const failure = inBrackets(record.failure);
  if (record.deferred !== undefined)
    return `${becauseDeferred(step, record, record.deferred, breakers)}${acted}`;
  switch (record.status) {
    case 'retrying':
      return `attempt ${record.attempt} failed${failure}, and its recovery allows another${acted}`;
    case 'waiting':
      return `attempt ${record.attempt} failed${failure}, and a person is asked what to do${acted}`;
    case 'unknown':
      return `the outcome of attempt ${record.attempt} is not known${failure}: nothing is repeated before it is settled`;
    case 'suspended':
      return `${SUSPENDED_AS[record.suspendedFrom ?? 'ready']}${failure}, and the execution is paused${acted}`;
    case 'failed':
      return `attempt ${record.attempt} failed${failure}, and nothing is left on its recovery${acted}${failedFor(plan, step, state)}`;
    case 'tolerated':
      if (isOnFailure(plan, step.name))
        return `it failed${failure}, which changes no end${record.mayHaveActed ? ': it may have acted all the same' : ''}`;
      return `it failed${failure}, which its workflow tolerates${record.mayHaveActed ? ': its effect may still be in place' : ''}`;
    case 'skipped':
      return chosenBy(state, step.name, 'skip') ? 'a person had it skipped' : 'its condition does not hold';
    case 'fenced':
      return record.attempt === 0
        ? 'the execution is being undone, so it will never start'
        : `attempt ${record.attempt} is the last, because the execution is being undone${acted}`;
    case 'compensating':
      return `undo ${record.undoAttempt} did not succeed${failure} and is tried again`;
    case 'compensation-failed':
      if (record.failure?.code === 'undo-overdue')
        return `${record.failure.message}; a person is asked, and its effect may still be in place`;
      return `undo ${record.undoAttempt} failed${failure}, and no further one is allowed: its effect may still be in place`;
    default:
      return toBeUndone ? waitsForUndo(plan, step, state) : `it is ${record.status}`;
  }
}

const SUSPENDED_AS = {
  ready: 'it was ready to begin',
  retrying: 'its next attempt was due',
  unknown: 'its outcome was to be asked for',
  failed: 'it failed, and what it may have done was to be undone',
  compensating: 'its undo was to be tried again',
} as const;

/** What becomes of a failure that is not decided on yet. */
function failedFor(plan: Plan, step: PlanStep, state: Snapshot): string {
  const goesOn = isForward(state.execution.status) || plan.whole !== undefined;
  if (goesOn && isBetweenStages(state.steps[step.name]))
    return '; nobody can be asked what it did, so it is undone, and then its next stage follows';
  if (goesOn && mayFail(plan, step, state.steps[step.name]))
    return needsUndo(step, state.steps[step.name])
      ? '; it is undone, and then the execution goes on without it'
      : '; the execution goes on without it once nothing of it can act any more';
  if (isPausedOrPausing(state.execution.status)) return '; what follows is decided after the pause';
  if (!isForward(state.execution.status) || !failureWaits(plan, state)) return '';
  return `; what follows is decided when the outcome of '${lastPoint(plan, state)?.name}', a point of no return, is known`;
}

const chosenBy = (state: Snapshot, step: string, choice: Choice): boolean =>
  Object.values(state.incidents ?? {}).some((one) => one.step === step && one.choice === choice);

function becauseUnbegun(plan: Plan, step: PlanStep, state: Snapshot): string {
  if (isPausedOrPausing(state.execution.status)) return 'it has not begun, and the execution is paused';
  if (!isForward(state.execution.status) && plan.whole === undefined) return 'it was never started';
  const open = step.after.filter((name) => !isSatisfied(state.steps[name]));
  if (!isTurn(step, state)) return `it waits for ${open.map((name) => `'${name}'`).join(', ')}`;
  return step.kind === 'agent' ? 'it waits for an agent to take it' : 'it is to begin';
}

function waitsForUndo(plan: Plan, step: PlanStep, state: Snapshot): string {
  const open = (graphOf(plan).dependents.get(step.name) ?? []).filter(
    (other) => !isClear(other, state.steps[other.name], false),
  );
  return open.length === 0
    ? 'it is done and is to be undone'
    : `it is undone after ${open.map((other) => `'${other.name}'`).join(', ')}`;
}

function nextOfStep(
  plan: Plan,
  step: PlanStep,
  state: Snapshot,
  work: readonly Work[],
  isDeployed: IsDeployed,
): Next {
  const record = state.steps[step.name];
  if (isLeased(record)) {
    const what =
      'its agent reports, or renews its lease; if it stays silent, its outcome is taken for unknown';
    return { what, at: leaseEndsAt(record.leaseUntil), who: 'supervisor' };
  }
  const question = openIncidents(state).find(
    ({ kind, step: about }) => kind !== 'deadline' && about === step.name,
  );
  if (question !== undefined && isPausedOrPausing(state.execution.status)) {
    const what = `a person answers incident ${question.number}; its deadline stands still during the pause`;
    return { what, who: 'person' };
  }
  if (question !== undefined) return answerNext(plan, state, question);
  const ofKind = nextOfWaiting(step, state);
  if (ofKind !== undefined) return ofKind;
  const piece = work.find((one) => one.step.name === step.name);
  if (piece === undefined) return { what: 'nothing' };
  const deed = { execute: 'attempt', probe: 'a probe of attempt', undo: 'undo' }[piece.mode];
  const dispatch = state.execution.dispatches[workKey(piece)];
  if (!isDeployed(piece.step.agent)) {
    const what = `no agent '${piece.step.agent}' is deployed: deploy it again, and a supervisor sends it ${deed} ${piece.attempt}`;
    return { what, at: piece.dueAt, who: 'person' };
  }
  if (piece.deferred !== undefined && !wasSentSinceDeferred(piece, dispatch)) {
    const sends = `sends it to agent '${piece.step.agent}'`;
    const still = { paused: ' unless that is still paused', breaker: ' unless its breaker is still open' };
    const { why } = piece.deferred;
    const unless = why === 'paused' || why === 'breaker' ? still[why] : ' again';
    const what = `a supervisor ${sends}${unless}: ${deed} ${piece.attempt}`;
    return { what, at: piece.dueAt, who: 'supervisor' };
  }
  const dispatchAt = dispatchDueAt(piece, dispatch);
  const what = `agent '${piece.step.agent}' takes it: ${deed} ${piece.attempt}, from ${timeText(piece.dueAt)}; if nobody has by ${timeText(dispatchAt)}, its message is sent again`;
  return { what, at: piece.dueAt, who: 'agent' };
}

type Timed = Next & { readonly at: number };

/** The notes of an evaluation that ends in a write, in words. */
const DUE_NOW: Readonly<Record<string, string>> = {
  'lease-ended': 'the lease has ended: the outcome of the attempt is taken for unknown',
  compensating: 'what has acted is undone',
  'incident-opened': 'a person is asked',
  'incident-timed-out': 'the time for an answer is over',
  'incident-moot': 'an open question is closed, because the execution went another way',
  'step-skipped': 'a step is skipped, because its condition does not hold',
  'step-suspended': 'a step that could begin is held, because the execution is paused',
  paused: 'the pause is complete: nobody works and nobody can begin',
  'no-undo': 'a person is asked, because it may have acted and has no undo',
  'following-up': 'nothing is owed any more: it has its end, and its on-failure steps begin',
  'on-failure-failed': 'an on-failure step failed for good, which changes no end',
  'step-overdue': 'a person is asked, because nobody could perform an on-failure step for a day',
  'next-stage': 'the next stage of a recovery follows, because what the former one may have done is undone',
  'step-tolerated': 'a failure is tolerated: nothing of it is under way or owed any more',
  'no-way-back': 'a person is asked, because there is no way back',
  'undo-given-up': 'a person is asked, because nobody could undo a step for a day',
  kept: 'what has acted is left as it is, because a point of no return was passed',
  'incident-moved': 'the time for an answer is moved by the time of the pause',
  'incident-reminded': 'listeners are reminded of an open question',
  'incident-announced': 'a reminder of an open question is announced',
  'step-fenced': 'a step that has not started is closed for good',
  succeeded: 'it succeeds: every step is done, skipped or tolerated',
  compensated: 'it ends as compensated: everything that acted is undone',
  canceled: 'it ends as canceled: everything that acted is undone',
  failed: 'it ends as failed',
  ...DUE_OF_WAITING,
};

/** Where there is no way back a person is asked at the deadline. */
function deadlineNext(plan: Plan, state: Snapshot): Timed[] {
  const { deadlineAt, status } = state.execution;
  const asked = openIncidents(state).find(({ kind }) => kind === 'deadline');
  if (asked !== undefined && !isPausedOrPausing(status)) return [answerNext(plan, state, asked)];
  return isAskedAtDeadline(plan, state)
    ? [{ what: 'its time is over and a person is asked', at: deadlineAt, who: 'person' }]
    : [];
}

const answerNext = (plan: Plan, state: Snapshot, incident: Incident): Timed => ({
  what: `a person answers incident ${incident.number}; without an answer it is taken for '${choiceOfTime(plan, state, incident)}'`,
  at: incident.deadlineAt,
  who: 'person',
});

/** A pause has an end even if no operator ends it. */
function pauseNext(plan: Plan, state: Snapshot): Timed[] {
  const pause = pauseOf(state.execution);
  const asked = pause && askedAboutPause(state, pause);
  if (asked?.resolvedAt === undefined && asked !== undefined) return [answerNext(plan, state, asked)];
  if (pause?.deadlineAt === undefined || asked !== undefined) return [];
  const what = 'a person is asked, unless the pause is ended before';
  return [{ what, at: pause.deadlineAt, who: 'person' }];
}

/** What a supervisor would do if it evaluated now; else the earliest of what the steps wait for. */
function nextOf(plan: Plan, state: Snapshot, ofSteps: readonly Next[], now: number): Next {
  const { execution } = state;
  if (isTerminal(execution.status)) {
    return execution.wakeAt === undefined
      ? { what: 'nothing: it has ended and said so' }
      : { what: 'its end is announced', at: execution.wakeAt, who: 'supervisor' };
  }
  const decision = decide(plan, state, {
    type: 'evaluate',
    by: 'supervisor',
    affected: [],
    fresh: true,
    readAt: now,
    now,
    random: 0,
    writeId: 'why',
  });
  const [said] = decision.notes;
  const isDue =
    said !== undefined && (decision.next.kind === 'evaluate' || Object.hasOwn(DUE_NOW, said.what));
  const note = dueWithChildren(decision) ?? (isDue ? said : undefined);
  if (note !== undefined) {
    const at = Math.max(now, execution.wakeAt ?? now);
    return { what: DUE_NOW[note.what] ?? note.what, at, who: 'supervisor', ...given({ step: note.step }) };
  }
  const timed = ofSteps.filter((next): next is Timed => next.at !== undefined);
  const deadline: Timed = {
    what: 'its time is over and it is undone',
    at: execution.deadlineAt,
    who: 'supervisor',
  };
  // Executions of its own have times of their own.
  const child = timed.length === 0 ? ofSteps.find(({ who }) => who === 'child') : undefined;
  if (child !== undefined && !isPausedOrPausing(execution.status)) return child;
  const undoes = isForward(execution.status) && mayBeStopped(plan, state);
  const overTime = plan.steps.flatMap((step): Timed[] => {
    const at = isForward(execution.status) ? endsAt(step, state) : undefined;
    if (at === undefined) return [];
    return [{ what: 'the time of a step is over and it fails', at, who: 'supervisor', step: step.name }];
  });
  const candidates = [
    ...timed,
    ...overTime,
    ...(undoes ? [deadline] : []),
    ...deadlineNext(plan, state),
    ...pauseNext(plan, state),
  ];
  return candidates.reduce<Timed>(
    (first, next) => (next.at < first.at ? next : first),
    candidates[0] ?? { what: 'a supervisor evaluates it', at: execution.wakeAt ?? now, who: 'supervisor' },
  );
}
