/**
 * What follows from the answer of a round: the next round, the end of all rounds, or a failure.
 *
 * Owns: when an answer is read, and that decision; the read of the successful rounds' answers before a
 * tolerated failure is final. Does not own: the records (`waiting/rounds.ts`), the read
 * (`engine/children.ts`), which fails without an answer, so that nothing is decided without one, when a
 * failure is final (`step/tolerance.ts`).
 *
 * S10 the next round is recorded in one write with the parent's execution, which fails if that was paused,
 * stopped or ended since. L1 rounds end: `atMost` counts them, and the time of the step and of the workflow
 * limits them.
 */

import {
  type DecisionInputs,
  stepAfter,
  type StepChanges,
  writingBoth,
  writingStep,
} from '../decisions/change.ts';
import { type Decision, type Next, nothing } from '../decisions/decision.ts';
import type { ChildrenDone } from '../decisions/events.ts';
import { isRepeated, ofRounds, type Plan, type RepeatedStep } from '../plan/plan.ts';
import { evaluateExpression } from '../plan/refs.ts';
import { type Children, MAX_GATHERED_BYTES, MAX_ROUND_INPUT_BYTES } from '../records/children.ts';
import { MAX_WHOLE_BYTES, mostBytes } from '../records/large-values.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isForward, type Step } from '../records/state.ts';
import { leftOutIn, lostOfRound, lostValue } from '../step/left-out.ts';
import { isFailureUndecided } from '../step/point-of-no-return.ts';
import type { Rule } from '../step/rule.ts';
import { answersOwed, scopeOf } from '../step/turn.ts';
import { FAILED_FOR_TIME, isTimeOver } from '../step/within.ts';
import { defined } from '../values/defined.ts';
import { utf8Bytes } from '../values/json.ts';
import { childIds, idsOfTries } from '../waiting/child.ts';
import {
  awaitsOf,
  givenToRound,
  nextRoundBegun,
  pastRounds,
  type RoundBegins,
  roundOf,
  roundsEnded,
} from '../waiting/rounds.ts';

/**
 * The next read once the latest round has succeeded: its answer, or those of all rounds; undefined while no
 * other round may begin.
 */
export function roundToRead(plan: Plan, step: RepeatedStep, record: Step, state: Snapshot): Next | undefined {
  const { execution } = state;
  if (record.children?.rounds?.isOver === true)
    return allRounds(step, record, state, roundOf(record.children));
  const mayGoOn = isForward(execution.status) && !isFailureUndecided(plan, state);
  return mayGoOn
    ? { kind: 'gather', step: step.name, ids: childIds(execution, record), rounds: 1 }
    : undefined;
}

/** The read of all rounds' answers. @param rounds how many have succeeded */
const allRounds = (
  { name: step }: RepeatedStep,
  record: Step,
  { execution }: Snapshot,
  rounds: number,
): Next => ({ kind: 'gather', step, ids: idsOfTries(execution, record), rounds });

/** Decides what follows once the answer of the latest round, or the answers of all rounds, were read. */
export function roundRead(
  plan: Plan,
  step: RepeatedStep,
  state: Snapshot,
  event: ChildrenDone & { readonly type: 'gathered' } & DecisionInputs,
): Decision {
  const record = state.steps[step.name];
  const { children } = record ?? {};
  if (record === undefined || children === undefined) return nothing();
  if (answersOwed(step, record) > 0)
    return writingStep(state, answersKept(record, children, state, event), 'children-gathered');
  if (record.status !== 'running') return nothing();
  const isOver = children.rounds?.isOver === true;
  const verdict: Verdict = isOver ? { kind: 'last' } : judged(step, record, state, event);
  switch (verdict.kind) {
    case 'fail': {
      const past = pastRounds(record, event.now);
      const changes = { ...past, changedAt: event.now, ...verdict.changes };
      const failed = stepAfter(record, 'fail', event, { ...changes, status: 'failed' });
      return writingStep(state, failed, 'step-failed');
    }
    case 'last':
      return isOver || roundOf(children) === 1
        ? writingStep(state, roundsDone(record, children, state, event), 'children-gathered')
        : writingStep(state, roundsEnded(record, children, event), 'rounds-ended');
    default:
      return isForward(state.execution.status) && !isFailureUndecided(plan, state)
        ? writingBoth(state, nextRoundBegun(record, children, verdict, event), 'round-begun', event)
        : nothing();
  }
}

type Verdict =
  | { readonly kind: 'last' }
  | ({ readonly kind: 'next' } & RoundBegins)
  | { readonly kind: 'fail'; readonly changes: StepChanges };

/** A failure that no repetition can change. */
const failure = (code: string, message: string): Verdict => ({
  kind: 'fail',
  changes: { failure: { code, message }, isPermanent: true },
});

function judged(
  step: RepeatedStep,
  record: Step,
  state: Snapshot,
  { outputs: [last], lostBytes, now }: ChildrenDone & { readonly type: 'gathered' } & DecisionInputs,
): Verdict {
  const { until, next, atMost, message: begins } = step.rounds;
  const number = roundOf(record.children);
  const most = mostBytes(state, MAX_GATHERED_BYTES);
  if (lostBytes !== undefined) {
    const { code, message } = lostValue(`the answer of round ${number}`, lostBytes);
    return failure(code, message);
  }
  if (last === undefined || utf8Bytes(JSON.stringify(last)) > most) {
    const message = `round ${number} answered more than ${most} bytes, and its answer decides whether another round follows`;
    return failure('output-too-large', message);
  }
  const leftOut = leftOutIn(ofRounds(step), state) ?? lostOfRound(state, record);
  if (leftOut !== undefined) return failure(leftOut.code, leftOut.message);
  const before = givenToRound(step, record, state);
  const scope = { ...scopeOf(state), last, given: before };
  if (evaluateExpression(until, scope) === true) return { kind: 'last' };
  if (record.children?.stop !== undefined || isTimeOver(step, state, now))
    return { kind: 'fail', changes: FAILED_FOR_TIME };
  if (number >= atMost)
    return failure('too-many-rounds', `its 'until' did not hold after ${atMost} rounds ('maxRounds')`);
  const input = next === undefined ? before : (evaluateExpression(next, scope) ?? null);
  const bytes = utf8Bytes(JSON.stringify(input));
  const mostGiven = mostBytes(state, MAX_ROUND_INPUT_BYTES);
  const awaits = begins === undefined ? undefined : awaitsOf(begins, scope);
  if (awaits !== undefined && 'code' in awaits) return failure(awaits.code, awaits.message);
  if (bytes <= mostGiven) return { kind: 'next', input, ...defined({ awaits }) };
  const tooLarge = `the input of round ${number + 1} has ${bytes} bytes; at most ${mostGiven} are allowed`;
  return failure('input-too-large', tooLarge);
}

type Answers = ChildrenDone & { readonly type: 'gathered' } & DecisionInputs;

/**
 * Returns the output: the number of rounds, the latest answer, and each round's answer if there is room for
 * all.
 */
function outputOf(
  children: Children,
  rounds: number,
  state: Snapshot,
  { outputs, bytes = 0 }: Answers,
): Required<Pick<Step, 'output' | 'children'>> {
  const items = outputs.map((output) => output ?? null);
  const counts = { rounds, last: items.at(-1) ?? null };
  const most = mostBytes(state, MAX_GATHERED_BYTES, MAX_WHOLE_BYTES);
  const isKept = !outputs.includes(undefined) && utf8Bytes(JSON.stringify(items)) <= most;
  return {
    output: isKept ? { ...counts, items } : counts,
    children: {
      ...children,
      started: children.count,
      ...(isKept ? {} : { leftOutBytes: Math.max(bytes, most + 1) }),
    },
  };
}

const roundsDone = (record: Step, children: Children, state: Snapshot, answers: Answers): Step =>
  stepAfter(record, 'done', answers, {
    changedAt: answers.now,
    ...pastRounds(record, answers.now),
    ...outputOf(children, roundOf(children), state, answers),
  });

/** Records the output of a step whose failure is tolerated: that of the successful rounds. */
function answersKept(record: Step, children: Children, state: Snapshot, answers: Answers): Step {
  const kept = { ...children, rounds: children.rounds ?? { done: 0 } };
  return stepAfter(record, 'child-ended', answers, outputOf(kept, answers.outputs.length, state, answers));
}

export const readAnswers: Rule = {
  apply: (plan, state, { failing = [] }) => {
    for (const step of plan.steps) {
      const record = state.steps[step.name];
      if (record === undefined || !isRepeated(step) || failing.includes(step.name)) continue;
      const owed = answersOwed(step, record);
      if (owed > 0) return nothing(allRounds(step, record, state, owed));
    }
    return undefined;
  },
  dueAt: (plan, { steps }) =>
    plan.steps.flatMap((step) => {
      const record = steps[step.name];
      if (record === undefined || answersOwed(step, record) === 0) return [];
      const coming = () => ({ what: 'what its rounds answered is read', who: 'supervisor' as const });
      return [{ at: record.changedAt, step: step.name, coming }];
    }),
  says: { gather: 'what the rounds of a step answered is gathered' },
};
