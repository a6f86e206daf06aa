/**
 * The rounds of a repeated step: after each successful one another execution, until an answer ends them.
 *
 * Owns: the record of the next round, its input, what a round with a message waits for, and the record of the
 * round that is undone next. Does not own: which message is taken (`waits.ts`), tries of a failed round
 * (`child-tries.ts`), starting and stopping executions (`child.ts`), what follows an answer
 * (`execution/on-round.ts`), the rules that use this (`execution/child-rules.ts`).
 *
 * One counter numbers rounds and failed tries; ids are derived from it. S10 a number is recorded in one
 * transaction with the parent's execution before anything is created under it, so a stop takes the latest
 * one's place and finds all others ended. A round begins after the recorded success of the one before. Rounds
 * are undone one at a time, the latest first: the number is recorded before its execution is recalled, and
 * only notices of that number count. A round that begins with a message first gets its number, then waits:
 * nothing is created under it before the write that takes the message.
 */

import {
  type ChildStep,
  isRepeated,
  type PlanStep,
  type RepeatedStep,
  type RoundMessage,
} from '../plan/plan.ts';
import { evaluateExpression, type Scope } from '../plan/refs.ts';
import { blankStep, type DecisionInputs, stepAfter } from '../decisions/change.ts';
import {
  type ChildEnd,
  type Children,
  MAX_ROUND_INPUT_BYTES,
  type ReceivedMessage,
  type RoundsSoFar,
} from '../records/children.ts';
import { mostBytes, roundInputIn } from '../records/large-values.ts';
import { lengthMsOf, lengthProblem } from '../values/duration.ts';
import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import { cut } from '../values/text.ts';
import { isJsonObject, type Json, utf8Bytes } from '../values/json.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Attempt, Step } from '../records/state.ts';
import { triesActUntil } from '../step/effect.ts';
import { withAttempt } from '../step/history.ts';
import { leftOutIn } from '../step/left-out.ts';
import { applies, hasEarlierRounds, isStopping, roundBelow, scopeOf } from '../step/turn.ts';
import { givenToTry, isCleanEnd, nextUnderCounter, tryOf } from './child-tries.ts';

const NONE: RoundsSoFar = { done: 0 };

/** The current round's number among the rounds alone, from 1. */
export const roundOf = (children: Children | undefined): number => (children?.rounds?.done ?? 0) + 1;

/** The input of the current round. */
export function givenToRound({ input }: ChildStep, record: Step | undefined, state: Snapshot): Json {
  const known = givenToTry(record, state);
  return known === undefined ? (evaluateExpression(input, scopeOf(state)) ?? null) : known;
}

const pastRound = (record: Step, now: number): Attempt => ({
  number: tryOf(record.children),
  mode: 'execute',
  claimedAt: record.changedAt,
  endedAt: now,
  outcome: 'done',
  ...(record.keyInput === undefined ? {} : { given: true }),
  ...defined({ message: record.children?.rounds?.received?.id }),
});

/** The step's history with the current round, which succeeded. */
export const pastRounds = (record: Step, now: number): Pick<Step, 'attempts' | 'leftOut'> =>
  withAttempt(record, pastRound(record, now));

/**
 * The numbers of the rounds before the current one; undefined if too many tries have failed to tell them
 * apart.
 */
export function earlierRounds(children: Children): readonly number[] | undefined {
  const { done, failed = [] } = children.rounds ?? NONE;
  const numbers = Array.from({ length: (children.try ?? 1) - 1 }, (_, at) => at + 1);
  const succeeded = numbers.filter((number) => !failed.includes(number));
  return succeeded.length === done ? succeeded.filter((number) => number < tryOf(children)) : undefined;
}

const sumOf = ({ rounds = NONE, ended }: Children): RoundsSoFar => ({
  done: rounds.done + 1,
  ...defined({ failed: rounds.failed }),
  ...(rounds.left === true || ended[0]?.left === true ? { left: true } : {}),
});

/** A round's input, without its message if it waits for one. */
export type RoundBegins = Pick<RoundsSoFar, 'awaits'> & { readonly input: Json };

/** The record with which the next round begins; the evaluation creates its execution afterwards. */
export function nextRoundBegun(
  record: Step,
  children: Children,
  { input, awaits }: RoundBegins,
  inputs: DecisionInputs,
): Step {
  return stepAfter(record, 'begin-try', inputs, {
    changedAt: inputs.now,
    ...pastRounds(record, inputs.now),
    // The recovery begins again, and a person's input was for the round before.
    stage: 0,
    stageAttempt: 0,
    failure: undefined,
    keyInput: undefined,
    givenInput: undefined,
    children: nextUnderCounter(children, { ...sumOf(children), input, ...defined({ awaits }) }),
  });
}

/** How long a round waits for its message; or why that is unknown. */
export function awaitsOf(
  { withinMs, within = null }: RoundMessage,
  scope: Scope,
): { readonly withinMs: number } | Failure {
  if (withinMs !== undefined) return { withinMs };
  const read = evaluateExpression(within, scope);
  const ms = lengthMsOf(read);
  return ms === undefined ? { code: 'bad-time', message: lengthProblem(read, "'within'") } : { withinMs: ms };
}

/** The message that the current round of a running step waits for; undefined once it has begun. */
export function awaitedBy(step: PlanStep, record: Step | undefined): RoundMessage | undefined {
  const { rounds, stop } = record?.children ?? {};
  if (rounds?.awaits === undefined || stop !== undefined || record?.status !== 'running') return undefined;
  return roundMessage(step, record);
}

/** The message that a step's current round begins with, begun or not. */
export const roundMessage = (step: PlanStep, record: Step | undefined): RoundMessage | undefined =>
  isRepeated(step) ? step.rounds[roundOf(record?.children) === 1 ? 'first' : 'message'] : undefined;

/**
 * The record in which the first round waits for its message, or in which the step fails before; undefined if
 * its condition does not apply. Nobody creates its execution before the message is taken, so a failure
 * leaves no place to take.
 */
export function firstRoundAwaits(
  step: RepeatedStep,
  first: RoundMessage,
  state: Snapshot,
  inputs: DecisionInputs,
): Step | undefined {
  const unread = leftOutIn(step.when, state);
  if (unread === undefined && !applies(step, state)) return undefined;
  const record = state.steps[step.name] ?? blankStep(step.name, state.execution);
  const scope = scopeOf(state);
  const rest = evaluateExpression(step.input, scope) ?? null;
  const awaits =
    unread ?? leftOutIn(step.input, state) ?? leftOutIn(first.within, state) ?? awaitsOf(first, scope);
  const failure = 'code' in awaits ? awaits : tooLarge(rest, state);
  const changes = { changedAt: inputs.now };
  if (failure !== undefined)
    return stepAfter(record, 'fail', inputs, { ...changes, status: 'failed', failure });
  const rounds = { done: 0, input: rest, ...('code' in awaits ? {} : { awaits }) };
  return stepAfter(record, 'start-children', inputs, {
    ...changes,
    status: 'running',
    children: { count: 1, started: 0, items: 1, tolerated: 0, ended: {}, rounds },
  });
}

const bytesOf = (json: Json): number => utf8Bytes(JSON.stringify(json));

function tooLarge(input: Json, state: Snapshot, id?: string, body: Json = null): Failure | undefined {
  const bytes = bytesOf(input);
  const most = mostBytes(state, MAX_ROUND_INPUT_BYTES);
  if (bytes <= most) return undefined;
  const share = id === undefined ? '' : `, ${bytesOf(body)} of them of message '${cut(id, 60)}'`;
  const message = `the input of a round has ${bytes} bytes${share}; at most ${most} are allowed`;
  return { code: 'input-too-large', message };
}

/**
 * The record in which a round begins with its message; the evaluation creates its execution afterwards. A try
 * of the same round keeps both. If its input would be too large, the step fails, and a retry waits for
 * another message.
 * @param received absent if its time is over, so that it begins without one
 */
export function roundGiven(
  record: Step,
  children: Children,
  state: Snapshot,
  inputs: DecisionInputs,
  message: { readonly body: Json; readonly received?: ReceivedMessage },
): Step {
  const { awaits: _, inputAt, ...before } = children.rounds ?? NONE;
  const { body, received } = message;
  const rest = roundInputIn(state, record);
  // The record also names a value that is lost; it makes the step fail before the round begins.
  const input = isJsonObject(rest) ? { ...rest, message: body } : undefined;
  const failure = input && tooLarge(input, state, received?.id, body);
  if (failure !== undefined) return neverBegun(record, inputs, failure, true);
  const rounds = {
    ...before,
    ...defined({ received }),
    ...(input === undefined ? defined({ inputAt }) : { input }),
  };
  return stepAfter(record, received === undefined ? 'elapse' : 'receive', inputs, {
    changedAt: inputs.now,
    children: { ...children, rounds },
  });
}

/** The end of a round that never begins: it has no execution, so its version is 0. */
const NEVER: ChildEnd = { status: 'canceled', version: 0, clean: true };

/** True if nothing was created under the latest number: a retry waits under it for the round's message. */
export const isUnbegunRound = ({ ended: { 0: end } }: Children): boolean =>
  end?.status === NEVER.status && end.version === NEVER.version;

/**
 * Fails the step because its round cannot begin. Nothing was created under the number, and nothing will be:
 * that would follow the write of its message, which this write replaces.
 */
export const neverBegun = (
  record: Step,
  inputs: DecisionInputs,
  failure: Failure,
  isPermanent = false,
): Step =>
  stepAfter(record, 'fail', inputs, {
    changedAt: inputs.now,
    status: 'failed',
    failure,
    ...(isPermanent ? { isPermanent: true as const } : {}),
    ...(record.children === undefined ? {} : { children: { ...record.children, ended: { 0: NEVER } } }),
  });

/** The record after the last round; the answers of all are read next. */
export const roundsEnded = (record: Step, children: Children, inputs: DecisionInputs): Step =>
  stepAfter(record, 'end-rounds', inputs, {
    children: { ...children, rounds: { ...(children.rounds ?? NONE), isOver: true } },
  });

/** True if the current round is undone and can no longer act, so that the one before it is next. */
export const goesBack = (record: Step): boolean => {
  const { children, status } = record;
  return (
    status === 'compensating' &&
    children !== undefined &&
    hasEarlierRounds(children) &&
    !isStopping(record) &&
    isCleanEnd(children)
  );
};

/** The record of the number to undo next; its execution is recalled afterwards. */
export function roundBefore(record: Step, children: Children, inputs: DecisionInputs): Step {
  return stepAfter(record, 'stop-children', inputs, {
    changedAt: inputs.now,
    children: {
      ...children,
      started: 1,
      ended: {},
      stop: { goal: 'recall', below: 0 },
      rounds: { ...(children.rounds ?? NONE), compensating: roundBelow(children) },
      ...triesActUntil(children),
    },
  });
}
