/**
 * Why: what happened to an execution, the evidence for its state, and what happens next and when.
 *
 * Owns: the text about the present. Does not own: the rules and their texts: the next events come from the
 * rules by which the roles decide (`rules.ts`), so that an explanation cannot differ from what is done; the
 * past (`past.ts`).
 */

import { stateAfterRetry } from '../core/execution/after-retry.ts';
import { isOnFailure, planInStatus, shownSteps } from '../core/plan/on-failure.ts';
import { graphOf, type Plan, type PlanStep } from '../core/plan/plan.ts';
import type { Bounded } from '../core/operators/list-filter.ts';
import { UNANSWERED } from '../core/values/failure.ts';
import { defined } from '../core/values/defined.ts';
import type { Choice, InboxKey } from '../core/records/question.ts';
import { openIncidents, type Snapshot, incidentsIn } from '../core/records/snapshot.ts';
import { isForward, isLeased, isSatisfied, isTerminal, type Step } from '../core/records/state.ts';
import { ruleThatApplies } from '../core/evaluate.ts';
import { RULES } from '../core/rules.ts';
import { isFailureUndecided, lastPoint } from '../core/step/point-of-no-return.ts';
import { effectOf } from '../core/step/effect.ts';
import { clearSince, openWork, type Work, workKey } from '../core/step/ready.ts';
import { isBetweenStages, isTurn, mayFail, shownStatus } from '../core/step/turn.ts';
import { dispatchDueAt, wasSentSinceDeferred } from '../core/supervision/wake-time.ts';
import { answerBelow, type AskedBelow, askedBelow, withAsked } from './asked-below.ts';
import { becauseDeferred, type Breakers } from './deferred.ts';
import { DEED, past } from './past.ts';
import { asIfNoneCame } from './messages.ts';
import { becauseOfWaiting, nextOfChildren } from './waiting-for.ts';
import { type IsDeployed, warningsOf } from './warnings.ts';
import { AND_PAUSED, type Happened, inBrackets, mendText, type Next } from './words.ts';
import { cut, timeText } from '../core/values/text.ts';

/** Why an execution is where it is: what happened, what each step waits for, what comes next and when. */
export interface Explanation {
  /** The execution that is explained. */
  readonly executionId: string;
  /** The status as the API reports it. */
  readonly status: string;
  /** What happened, the oldest first. */
  readonly past: readonly Happened[];
  /** Each step that has not ended, with the reason. */
  readonly steps: readonly {
    readonly name: string;
    readonly status: string;
    readonly because: string;
    readonly next: Next;
  }[];
  /** The earliest of the next events. */
  readonly next: Next;
  /**
   * Faults around the execution that an operator must correct, a sentence each: a late supervisor, an agent
   * that is not deployed.
   */
  readonly warnings: readonly string[];
}

/**
 * Explains an execution: its past, the reasons for its state, the next events and the obstacles. Total and
 * pure.
 * @param now epoch ms
 * @param isDeployed true unless an agent is known to be missing
 * @param breakers the known breakers, with their current state
 * @param asked the open questions of executions that its steps run
 */
export function explain(
  plan: Plan,
  stored: Snapshot,
  now: number,
  isDeployed: IsDeployed = () => true,
  breakers: Breakers = new Map(),
  asked: Bounded<InboxKey> = { items: [] },
): Explanation {
  const state = stateAfterRetry(plan, stored);
  const during = planInStatus(plan, state.execution);
  const work = openWork(during, state);
  const coming = comingOf(during, state, work, now);
  const below = ({ name }: PlanStep): AskedBelow | undefined => askedBelow(asked, state.execution.id, name);
  const steps = shownSteps(plan, state).map((step) => ({
    name: step.name,
    status: shownStatus(step, state),
    because: withAsked(
      `${because(isOnFailure(plan, step.name) ? during : plan, step, state, breakers)}${pausedOf(step, state)}${mendOf(state.steps[step.name])}`,
      below(step),
    ),
    next: {
      ...(answerBelow(below(step)) ?? nextOfStep(step, state, work, coming, isDeployed)),
      step: step.name,
    },
  }));
  const nexts = steps.map(({ next }) => next);
  return {
    executionId: state.execution.id,
    status: state.execution.status,
    past: past(plan, state),
    steps,
    next: nextOf(during, state, nexts, coming, now),
    warnings: warningsOf(plan, state, work, now, isDeployed),
  };
}

const STANDS_STILL: ReadonlySet<Step['status']> = new Set([
  'retrying',
  'accepted',
  'unknown',
  'compensating',
]);

const pausedOf = ({ name }: PlanStep, { execution, steps }: Snapshot): string => {
  const record = steps[name];
  const isStill = record !== undefined && !isLeased(record) && STANDS_STILL.has(record.status);
  return execution.status === 'paused' && isStill ? AND_PAUSED : '';
};

const mendOf = (record: Step | undefined): string =>
  record === undefined || isLeased(record) ? '' : mendText(record.failure, record.status);

function because(plan: Plan, step: PlanStep, state: Snapshot, breakers: Breakers): string {
  const record = state.steps[step.name];
  const toBeUndone = effectOf(step, record).isOwed && state.execution.status === 'compensating';
  const ofKind = becauseOfWaiting(step, state);
  if (ofKind !== undefined) return ofKind;
  if (record === undefined || record.status === 'ready') return becauseUnbegun(plan, step, state);
  if (isLeased(record)) {
    return `an agent is working on it (${DEED[record.mode]} ${record.mode === 'undo' ? record.undoAttempt : record.attempt}), heartbeat ${record.heartbeat}${record.heartbeatAt === undefined ? '' : ` at ${timeText(record.heartbeatAt)}`}`;
  }
  const isOpen = record.mayHaveActed && record.wrongAnswer === undefined;
  const acted = isOpen ? '; an attempt of unknown outcome may have acted' : '';
  const failure = inBrackets(record.failure);
  if (record.deferred !== undefined)
    return `${becauseDeferred(step, record, record.deferred, breakers)}${acted}`;
  switch (record.status) {
    case 'retrying':
      return `attempt ${record.attempt} failed${failure}, and its recovery allows another${acted}`;
    case 'accepted':
      return becauseAccepted(record);
    case 'waiting':
      return record.wrongAnswer === undefined
        ? `attempt ${record.attempt} failed${failure}, and a person is asked what to do${acted}`
        : `attempt ${record.attempt}: ${record.failure?.message ?? 'its answer is not a valid output'}; a person is asked what to do`;
    case 'unknown':
      return `the outcome of attempt ${record.attempt} is not known${failure}: nothing is repeated before it is known`;
    case 'failed':
      return `attempt ${record.attempt} failed${failure}, and its recovery has no attempt left${unanswered(state, record)}${acted}${failedFor(plan, step, state)}`;
    case 'tolerated':
      if (isOnFailure(plan, step.name))
        return `it failed${failure}, which does not change how the execution ended${record.mayHaveActed ? ': it may have acted all the same' : ''}`;
      return `it failed${failure}, which its workflow tolerates${unanswered(state, record)}${record.mayHaveActed ? ': its effect may still be in place' : ''}`;
    case 'skipped':
      return chosenBy(state, step.name, 'skip') ? 'a person skipped it' : 'its condition does not hold';
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

function becauseAccepted({ attempt, accepted, failure }: Step): string {
  if (accepted === undefined) return 'its service has accepted the work';
  const { token, at, untilAt, asked: times, progress } = accepted;
  const asked = times === 0 ? 'not asked yet' : times === 1 ? 'asked once' : `asked ${times} times`;
  const said = progress === undefined ? '' : `, progress ${progress}`;
  const named = token === undefined ? '' : ` as '${cut(token, 80)}'`;
  return `its service accepted attempt ${attempt}${named} at ${timeText(at)} and has until ${timeText(untilAt)}: ${asked}${said}${inBrackets(failure)}`;
}

/** Says what follows from a failure that is not decided yet. */
function failedFor(plan: Plan, step: PlanStep, state: Snapshot): string {
  const goesOn = isForward(state.execution.status) || plan.onFailureOf !== undefined;
  if (goesOn && isBetweenStages(state.steps[step.name]))
    return '; nobody can be asked what it did, so it is undone, and then its next stage follows';
  if (goesOn && mayFail(plan, step, state.steps[step.name]))
    return effectOf(step, state.steps[step.name]).isOwed
      ? '; it is undone, and then the execution goes on without it'
      : '; the execution goes on without it once nothing of it can act any more';
  if (state.execution.status === 'paused') return '; what follows is decided after the pause';
  if (!isForward(state.execution.status) || !isFailureUndecided(plan, state)) return '';
  return `; what follows is decided when the outcome of '${lastPoint(plan, state)?.name}', a point of no return, is known`;
}

/** Says that the last question about the step got no answer in time; '' if its failure says so already. */
function unanswered(state: Snapshot, { name, failure }: Step): string {
  const last = incidentsIn(state).findLast(({ step, kind }) => step === name && kind === 'recovery');
  if (last?.closedBy !== 'deadline' || failure?.message.includes(UNANSWERED) === true) return '';
  return `; ${UNANSWERED}${timeText(last.closedAt ?? 0)}`;
}

const chosenBy = (state: Snapshot, step: string, choice: Choice): boolean =>
  incidentsIn(state).some((one) => one.step === step && one.choice === choice);

function becauseUnbegun(plan: Plan, step: PlanStep, state: Snapshot): string {
  if (state.execution.status === 'paused') return `it has not begun${AND_PAUSED}`;
  if (!isForward(state.execution.status) && plan.onFailureOf === undefined) return 'it was never started';
  const open = step.after.filter((name) => !isSatisfied(state.steps[name]));
  if (!isTurn(step, state)) return `it waits for ${open.map((name) => `'${name}'`).join(', ')}`;
  return step.kind === 'agent' ? 'it waits for an agent to take it' : 'it is to begin';
}

function waitsForUndo(plan: Plan, step: PlanStep, state: Snapshot): string {
  const open = (graphOf(plan).dependents.get(step.name) ?? []).filter(
    (other) => clearSince(other, state.steps[other.name], false) === undefined,
  );
  return open.length === 0
    ? 'it is done and is to be undone'
    : `it is undone after ${open.map((other) => `'${other.name}'`).join(', ')}`;
}

function nextOfStep(
  step: PlanStep,
  state: Snapshot,
  work: readonly Work[],
  coming: readonly Timed[],
  isDeployed: IsDeployed,
): Next {
  const question = openIncidents(state).find(
    ({ kind, step: about }) => kind !== 'deadline' && about === step.name,
  );
  if (question !== undefined && state.execution.status === 'paused' && !isLeased(state.steps[step.name])) {
    const what = `a person answers incident ${question.number}; its deadline stands still during the pause`;
    return { what, who: 'person' };
  }
  const piece = work.find((one) => one.step.name === step.name);
  if (piece === undefined)
    return (
      nextOfChildren(step, state) ??
      earliest(coming.filter((one) => one.step === step.name)) ?? { what: 'nothing' }
    );
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
  const what = `agent '${piece.step.agent}' takes it: ${deed} ${piece.attempt}, from ${timeText(piece.dueAt)}; if it has not by ${timeText(dispatchAt)}, its message is sent again`;
  return { what, at: piece.dueAt, who: 'agent' };
}

type Timed = Next & { readonly at: number };

/** Returns everything that becomes due by time alone, in the words of the status's rules. */
function comingOf(plan: Plan, state: Snapshot, work: readonly Work[], now: number): Timed[] {
  const timing = { readAt: now, work };
  return RULES[state.execution.status].flatMap(({ dueAt }) =>
    (dueAt?.(plan, state, timing) ?? []).flatMap(({ at, step, coming }) =>
      coming === undefined ? [] : [{ ...coming(), at, ...defined({ step }) }],
    ),
  );
}

const earliest = (times: readonly Timed[]): Timed | undefined =>
  times.reduce<Timed | undefined>(
    (first, next) => (first === undefined || next.at < first.at ? next : first),
    undefined,
  );

/** Returns the write that a supervisor would make now; else the earliest later event. */
function nextOf(
  plan: Plan,
  state: Snapshot,
  ofSteps: readonly Next[],
  coming: readonly Timed[],
  now: number,
): Next {
  const { execution } = state;
  if (isTerminal(execution.status)) {
    return execution.wakeAt === undefined
      ? { what: 'nothing: it has ended, and its end is announced' }
      : { what: 'its end is announced', at: execution.wakeAt, who: 'supervisor' };
  }
  const known = asIfNoneCame(state);
  const found = ruleThatApplies(plan, known, {
    type: 'evaluate',
    by: 'supervisor',
    affected: [],
    fresh: true,
    readAt: now,
    now,
    random: 0,
    writeId: 'why',
  });
  if (found !== undefined) {
    const { notes, next } = found.decision;
    const step = notes[0]?.step ?? ('step' in next && typeof next.step === 'string' ? next.step : undefined);
    const what = found.rule.says[notes[0]?.what ?? next.kind] ?? notes[0]?.what ?? next.kind;
    return { what, at: Math.max(now, execution.wakeAt ?? now), who: 'supervisor', ...defined({ step }) };
  }
  const timed = ofSteps.filter((next): next is Timed => next.at !== undefined);
  // The times of a step's own executions differ from these.
  const child = timed.length === 0 ? ofSteps.find(({ who }) => who === 'child') : undefined;
  if (child !== undefined && execution.status !== 'paused') return child;
  return (
    earliest([...timed, ...coming]) ?? {
      what: 'a supervisor evaluates it',
      at: execution.wakeAt ?? now,
      who: 'supervisor',
    }
  );
}
