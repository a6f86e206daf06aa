/**
 * The rounds of a step that is repeated: after each successful one another execution, until an answer ends
 * them.
 *
 * Owns: the record of the next round, its input, and the record of the round that is undone next. Does not
 * own: tries of a failed round (`child-tries.ts`), how executions are started and stopped (`child.ts`), what
 * follows from an answer (`execution/on-round.ts`), the rules that use this (`execution/child-rules.ts`).
 *
 * One counter numbers rounds and failed tries; ids follow from it. S10 a number is recorded in one
 * transaction with the parent's execution before anything is created under it, so a stop takes the place of
 * the latest and finds all others ended. A round begins after the recorded success of the one before. They
 * are undone one at a time, the latest first: the number is recorded before its execution is recalled, and
 * only notices of that number count.
 */

import type { ChildStep } from '../plan/plan.ts';
import { evaluateExpression } from '../plan/refs.ts';
import { type DecisionInputs, stepAfter } from '../decisions/change.ts';
import type { Children, RoundsSoFar } from '../records/children.ts';
import { given } from '../values/given.ts';
import type { Json } from '../values/json.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Attempt, Step } from '../records/state.ts';
import { withAttempt } from '../step/history.ts';
import { hasEarlierRounds, hasOpenChildren, isStopping, roundBelow, scopeOf } from '../step/turn.ts';
import { givenToTry, nextUnderCounter, tryOf } from './child-tries.ts';
import { triesActUntil } from './lane.ts';

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
});

/** The history of its step with the current round, which succeeded. */
export const pastRounds = (record: Step, now: number): Pick<Step, 'attempts' | 'leftOut'> =>
  withAttempt(record, pastRound(record, now));

/**
 * The numbers of the rounds before the current one; nothing if too many tries have failed to tell rounds and
 * tries apart.
 */
export function earlierRounds(children: Children): readonly number[] | undefined {
  const { done, failed = [] } = children.rounds ?? NONE;
  const numbers = Array.from({ length: (children.try ?? 1) - 1 }, (_, at) => at + 1);
  const succeeded = numbers.filter((number) => !failed.includes(number));
  return succeeded.length === done ? succeeded.filter((number) => number < tryOf(children)) : undefined;
}

const sumOf = ({ rounds = NONE, ended }: Children): RoundsSoFar => ({
  done: rounds.done + 1,
  ...given({ failed: rounds.failed }),
  ...(rounds.left === true || ended[0]?.left === true ? { left: true } : {}),
});

/** The record that the next round begins; the evaluation creates it after that. */
export function nextRoundBegun(record: Step, children: Children, input: Json, inputs: DecisionInputs): Step {
  return stepAfter(record, 'begin-try', inputs, {
    changedAt: inputs.now,
    ...pastRounds(record, inputs.now),
    // It begins the recovery again, and a person's input was for the round before.
    stage: 0,
    stageAttempt: 0,
    failure: undefined,
    keyInput: undefined,
    givenInput: undefined,
    children: nextUnderCounter(children, { ...sumOf(children), input }),
  });
}

/** The record that no other round follows: the answers of all are read next. */
export const roundsEnded = (record: Step, children: Children, inputs: DecisionInputs): Step =>
  stepAfter(record, 'end-rounds', inputs, {
    children: { ...children, rounds: { ...(children.rounds ?? NONE), isOver: true } },
  });

/** The current round is undone, and one before it is next, once nothing of this one acts any more. */
export const goesBack = (record: Step): boolean => {
  const { children, status } = record;
  return (
    status === 'compensating' &&
    children !== undefined &&
    hasEarlierRounds(children) &&
    !isStopping(record) &&
    !hasOpenChildren(children) &&
    Object.values(children.ended).every(({ clean }) => clean)
  );
};

/** The record of the number that is undone next; its execution is recalled after that. */
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
