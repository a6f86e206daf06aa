/**
 * Why, for steps that no agent performs: until when a step waits and for whom, how far its executions are.
 *
 * Owns: this text. Does not own: the rules that it uses (`waiting/waits.ts`, `waiting/child.ts`), the
 * composition of an explanation (`why.ts`).
 */

import {
  type CallbackStep,
  type ChildStep,
  graphOf,
  hasChildren,
  isCallback,
  isForAnother,
  isReceive,
  isRepeated,
  type LaneStep,
  type MapStep,
  type Plan,
  type PlanStep,
} from '../core/plan/plan.ts';
import { callerText } from '../core/values/caller.ts';
import type { Children } from '../core/records/children.ts';
import { type CallbackQuestion, isIncident, type Question } from '../core/records/question.ts';
import { defined } from '../core/values/defined.ts';
import { type Snapshot, callbackOf } from '../core/records/snapshot.ts';
import type { Step } from '../core/records/state.ts';
import { hasOpenChildren } from '../core/step/turn.ts';
import { childIds } from '../core/waiting/child.ts';
import { isCleanEnd, tryOf } from '../core/waiting/child-tries.ts';
import { itemsSoFar } from '../core/waiting/map.ts';
import { roundOf } from '../core/waiting/rounds.ts';
import {
  becauseOfMessage,
  becauseOfRound,
  openUntil,
  roundTookText,
  tookText,
  untakenMessages,
} from './messages.ts';
import { AND_PAUSED, type Happened, inBrackets, itemsText, type Next } from './words.ts';
import { timeText } from '../core/values/text.ts';

/** Returns the evidence for a step's state; undefined if it is the same as for every kind of step. */
export function becauseOfWaiting(step: PlanStep, state: Snapshot): string | undefined {
  const record = state.steps[step.name];
  if (step.kind === 'agent') return undefined;
  if (hasChildren(step)) return record && (becauseOfRound(step, state) ?? becauseOfChildren(step, record));
  if (step.kind === 'lane') return becauseOfLane(step, record);
  if (isReceive(step)) return becauseOfMessage(step, state);
  const untilAt = openUntil(step, state);
  const isPaused = state.execution.status === 'paused';
  switch (record?.status) {
    case undefined:
    case 'ready':
    case 'waiting':
      if (untilAt === undefined)
        return record?.status === 'waiting' ? 'it waits for nothing any more' : undefined;
      if (step.kind !== 'wait') return `${unanswered(step, record)}${isPaused ? AND_PAUSED : ''}`;
      return isPaused ? 'its time stands still during the pause' : `it waits until ${timeText(untilAt)}`;
    case 'answered':
      return isPaused && untilAt !== undefined
        ? `${answerer(step)} answered; the answer counts after the pause`
        : `${answerer(step)} answered before its turn; the answer is kept`;
    case 'done':
      return step.kind === 'wait' ? 'its time has come' : answered(step, record, state);
    case 'failed':
    case 'tolerated':
      if (record.isOverTime === true) return `its time is over${inBrackets(record.failure)}`;
      return step.kind === 'wait'
        ? `the time until which it waits is not known${inBrackets(record.failure)}`
        : `its answer was not a success${inBrackets(record.failure)}`;
    default:
      return undefined;
  }
}

function becauseOfLane({ lane }: LaneStep, record: Step | undefined): string | undefined {
  switch (record?.status) {
    case 'waiting':
      return `lane '${lane}' is full: it waits for a place`;
    case 'done':
      return `it has a place in lane '${lane}'`;
    case 'failed':
      return `it got no place in lane '${lane}'${inBrackets(record.failure)}`;
    default:
      return undefined;
  }
}

const isApproval = (step: PlanStep): boolean => step.kind === 'approval';

const answerer = (step: PlanStep): string => (isApproval(step) ? 'a person' : 'the external party');

function answered(step: CallbackStep, { by }: Step, state: Snapshot): string {
  // A question of an earlier epoch that is not announced yet is unrelated to this answer.
  const asked = callbackOf(state, step.name);
  if (asked?.closedBy === 'deadline' && asked.outcome === 'done')
    return 'it is approved by default: nobody answered in time';
  if (isApproval(step)) return `${by === undefined ? 'a person' : callerText(by)} approved it`;
  return `the external party answered${by === undefined ? '' : ` (${callerText(by)})`}`;
}

function unanswered(step: CallbackStep, record: Step | undefined): string {
  const person = isForAnother(step) ? 'another person' : 'a person';
  const whom = isApproval(step)
    ? `${person} has not answered yet`
    : 'the external party has not answered yet';
  if (step.heartbeatMs === undefined) return whom;
  return record?.progressAt === undefined
    ? `${whom}, and there was no heartbeat`
    : `${whom}; its last heartbeat, ${record.heartbeat}, was at ${timeText(record.progressAt)}`;
}

function becauseOfChildren(step: ChildStep | MapStep, record: Step): string | undefined {
  const { status, failure, children } = record;
  const soFar = countText(step, record);
  switch (status) {
    case 'running':
      return `${tryText(children)}${roundTookText(step, record)}${children?.stop === undefined ? '' : 'its time is over, and they are stopped: '}${soFar}`;
    case 'retrying':
      return `try ${tryOf(children)} is over and has left nothing in effect${inBrackets(failure)}`;
    case 'waiting':
      return `try ${tryOf(children)} is over${isCleanText(children)}${inBrackets(failure)}`;
    case 'compensating':
      return `its executions are canceled, and those that succeeded are undone: ${roundText(step, record) ?? soFar}`;
    case 'failed':
      return failure === undefined
        ? `its executions are stopped, and what they did is left as it is: ${soFar}`
        : `it failed${inBrackets(failure)}`;
    case 'compensation-failed':
      return `it could not be undone${inBrackets(failure)}: what its executions did may still be in place`;
    default:
      return undefined;
  }
}

/** Names the try, if there was more than one, and the round. */
const tryText = (children: Children | undefined): string => {
  const tried = tryOf(children) > 1 ? `try ${tryOf(children)}: ` : '';
  return children?.rounds === undefined ? tried : `round ${roundOf(children)}, ${tried}`;
};

/**
 * Describes the earlier rounds. Rounds are executions one after the other, so the ends of all but the latest
 * are known.
 */
const roundText = (step: ChildStep | MapStep, { children }: Step): string | undefined => {
  const { done = 0, compensating } = children?.rounds ?? {};
  if (!isRepeated(step) || (children?.try ?? 1) === 1) return undefined;
  const before = done === 0 ? '' : `; ${done} before it succeeded`;
  return compensating === undefined
    ? `of at most ${step.rounds.atMost} rounds${before}`
    : `of ${children?.try ?? 1} executions number ${compensating} is undone, the latest first`;
};

const isCleanText = (children: Children | undefined): string =>
  children !== undefined && isCleanEnd(children)
    ? ' and has left nothing in effect'
    : ', and what it did may be in effect';

/**
 * Prints '3 of 4 executions ended (2 succeeded, 1 failed)'. A list counts items, because its parts are
 * internal.
 */
function countText(step: ChildStep | MapStep, record: Step): string {
  const { status, children } = record;
  const { kind } = step;
  if (children === undefined) return 'none of its executions is known';
  const items = kind === 'map' ? itemsSoFar(children) : undefined;
  const isRunning = status === 'running';
  if (items !== undefined) return `${itemsText(items, isRunning)}${endsText(Object.entries(items.ended))}`;
  const rounds = roundText(step, record);
  if (rounds !== undefined && isRunning) return rounds;
  const ends = Object.values(children.ended).map((end) => end.status);
  const kinds = [...new Set(ends)].map((one) => [one, ends.filter((end) => end === one).length] as const);
  const open = isRunning ? children.count - children.started : 0;
  const waiting = open > 0 ? `, ${open} are not started yet` : '';
  return `${ends.length} of ${children.count} executions ended${endsText(kinds)}${waiting}`;
}

function startsText({ kind }: ChildStep | MapStep, children: Children | undefined): string {
  const items = kind === 'map' && children !== undefined ? itemsSoFar(children) : undefined;
  return items === undefined
    ? `its executions were started, ${children?.started ?? 0} of ${children?.count ?? 0}`
    : `its items were begun, ${items.begun} of ${items.count}`;
}

const endsText = (ends: readonly (readonly [string, number])[]): string =>
  ends.length === 0 ? '' : ` (${ends.map(([status, count]) => `${count} ${status}`).join(', ')})`;

/** Returns the step's executions that have not ended yet; undefined if there are none. */
export function nextOfChildren(step: PlanStep, { execution, steps }: Snapshot): Next | undefined {
  const record = steps[step.name];
  const { children } = record ?? {};
  if (record === undefined || children === undefined || !hasOpenChildren(children)) return undefined;
  if (record.status !== 'running' && record.status !== 'compensating') return undefined;
  const open = Array.from({ length: children.started }, (_, index) => index).filter(
    (index) => children.ended[index] === undefined,
  );
  const [first] = open;
  if (first === undefined) return undefined;
  const others = open.length === 1 ? '' : ` and ${open.length - 1} other${open.length === 2 ? '' : 's'}`;
  const id = childIds(execution, record)[first];
  return { what: `${tryText(children)}execution ${id}${others} end`, who: 'child' };
}

/** Returns the past of steps that no agent performs. */
export function pastOfWaiting(plan: Plan, state: Snapshot): Happened[] {
  const { steps, questions = {} } = state;
  const happened = Object.values(questions).flatMap((one) => (isIncident(one) ? [] : happenedQuestion(one)));
  for (const record of Object.values(steps)) {
    const step = graphOf(plan).step.get(record.name);
    if (step === undefined || step.kind === 'agent') continue;
    const named = { step: step.name };
    if (isCallback(step) && record.progressAt !== undefined) {
      const evidence = { heartbeat: record.heartbeat };
      happened.push({
        at: record.progressAt,
        what: 'the external party sent a heartbeat',
        ...named,
        evidence,
      });
    }
    const what = hasChildren(step) ? deedOfChildren(step, record) : deedOfExternalParty(step, record, state);
    if (what === undefined) continue;
    const { failure, children, by } = record;
    const { count, ended } = children ?? {};
    const evidence = defined({ status: record.status, failure, by, count, ended });
    happened.push({ at: record.changedAt, what, ...named, evidence });
  }
  return [...happened, ...untakenMessages(state)];
}

function happenedQuestion(question: CallbackQuestion): Happened[] {
  const { step, openedAt, deadlineAt, otherwise } = question;
  const opened = { at: openedAt, what: 'an answer was asked for', step, evidence: { deadlineAt, otherwise } };
  return [opened, ...reminded(question, { step })];
}

/** Returns the latest reminder of a question. */
export function reminded(
  { reminders, remindedAt }: Pick<Question, 'reminders' | 'remindedAt'>,
  about: Pick<Happened, 'step'>,
): Happened[] {
  if (remindedAt === undefined) return [];
  const what = `reminder ${reminders} was sent: there was no answer yet`;
  return [{ at: remindedAt, what, ...about, evidence: { reminders } }];
}

function deedOfExternalParty(step: PlanStep, record: Step, state: Snapshot): string | undefined {
  const { status, failure, by } = record;
  if (status === 'answered') return `${answerer(step)} answered, and the answer is kept`;
  if (status === 'failed' || status === 'tolerated')
    return by === undefined
      ? `it failed${inBrackets(failure)}`
      : `${callerText(by)} answered that it cannot be done${inBrackets(failure)}`;
  if (status !== 'done') return undefined;
  if (isReceive(step)) return tookText(step, record);
  return isCallback(step) ? answered(step, record, state) : 'its time came';
}

function deedOfChildren(step: ChildStep | MapStep, record: Step): string | undefined {
  const { status, failure, children } = record;
  switch (status) {
    case 'running':
      return `${tryText(children)}${roundTookText(step, record)}${startsText(step, children)}`;
    case 'done':
    case 'compensated':
      return `${tryText(children)}${status}: ${countText(step, record)}`;
    case 'failed':
    case 'tolerated':
    case 'compensation-failed':
      return `${tryText(children)}${status}${inBrackets(failure)}: ${countText(step, record)}`;
    case 'compensating':
      return 'its executions were stopped';
    default:
      return undefined;
  }
}
