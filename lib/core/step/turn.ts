/**
 * Which steps can begin now, by their predecessors and their conditions.
 *
 * Owns: a step's turn and condition, when a failure is final, and whether child executions may be under way
 * without a record. Does not own: the resulting pieces of work (`ready.ts`).
 *
 * S7 a step is ready only when its predecessors are done, skipped or tolerated.
 */

import { isOutcomeRead, isTolerated } from '../plan/outcomes.ts';
import { hasChildren, isRepeated, type Plan, type PlanStep } from '../plan/plan.ts';
import { evaluateExpression, type Scope } from '../plan/refs.ts';
import type { Children } from '../records/children.ts';
import { inputIn, outputIn } from '../records/large-values.ts';
import { hasOutput } from '../records/value-ref.ts';
import { defined } from '../values/defined.ts';
import { leftOutIn } from './left-out.ts';
import type { StepStatus } from '../moves.ts';
import type { Json } from '../values/json.ts';
import type { Snapshot } from '../records/snapshot.ts';
import {
  callbackToken,
  type Execution,
  isPerforming,
  isSatisfied,
  isTerminal,
  isUndecided,
  type Step,
} from '../records/state.ts';

const OUTCOMES: Readonly<Partial<Record<Step['status'], string>>> = {
  done: 'succeeded',
  tolerated: 'failed',
  skipped: 'skipped',
};

/** The values that expressions may read. Reading a large value that is not loaded throws `NotLoaded`. */
export function scopeOf(state: Snapshot): Scope {
  const { execution, steps } = state;
  const recordOf = (step: string): Step | undefined => (Object.hasOwn(steps, step) ? steps[step] : undefined);
  return {
    input: execution.input,
    ...(execution.inputAt === undefined ? {} : { loadedInput: (): Json => inputIn(state) }),
    output: (step): Json | undefined => {
      const record = recordOf(step);
      // After the end every recorded output may be shown, even of an undone step.
      const isShown =
        record?.status === 'done' || keepsAnswers(record) || execution.status === 'following-up';
      return isShown ? outputIn(state, record) : undefined;
    },
    token: (step): Json | undefined => callbackToken(execution, step),
    outcome: (step): Json | undefined => OUTCOMES[recordOf(step)?.status ?? 'ready'],
    failure: (step): Json | undefined => {
      const record = recordOf(step);
      if (record?.status !== 'tolerated' || record.failure === undefined) return undefined;
      const { code, message } = record.failure;
      return { code, message };
    },
    cause: causeOf(execution),
  };
}

const causeOf = ({ cause }: Execution): Json | undefined =>
  cause && {
    kind: cause.kind,
    ...defined({ step: cause.step }),
    code: cause.failure.code,
    message: cause.failure.message,
  };

const GIVEN_UP: ReadonlySet<Step['status'] | undefined> = new Set([
  'failed',
  'tolerated',
  'compensating',
  'compensated',
  'compensation-failed',
]);

/**
 * True if the step has not failed for good: its next stage begins once the current one's effects are undone.
 */
export const isBetweenStages = (record: Step | undefined): boolean =>
  record?.nextStage !== undefined && record.status !== 'compensation-failed';

/** The failed items of a part of a list, undone or not. */
export const failedItems = (plan: Plan, snapshot: Snapshot): readonly Step[] =>
  plan.steps.flatMap(({ name }) => {
    const record = snapshot.steps[name];
    return record !== undefined && GIVEN_UP.has(record.status) && !isBetweenStages(record) ? [record] : [];
  });

/**
 * True if the execution goes on when the step fails: its failure is tolerated, and neither a person nor the
 * deadline of a question has decided otherwise. If a condition reads the outcome of a child step, the child's
 * failure must have left no effect. A child that succeeded with an unusable output has not failed.
 */
export function mayFail(plan: Plan, step: PlanStep, record: Step | undefined): boolean {
  if (!isTolerated(step) || record?.afterFailure === 'stop') return false;
  const ends = Object.values(record?.children?.ended ?? {});
  // A repeat may fail although all its rounds succeeded: no more rounds are allowed. Their effects stay.
  const maySucceed = isRepeated(step);
  return ends.every(({ status, clean }) =>
    status === 'succeeded' ? maySucceed : clean || !isOutcomeRead(plan, step.name),
  );
}

/**
 * True while the step's failure is not final: its undo is still to come, and a late success counts until
 * then.
 */
export const isFailureOpen = (plan: Plan, step: PlanStep, record: Step | undefined): boolean =>
  isBetweenStages(record) || mayFail(plan, step, record);

/** True if a late success of the step still counts: the execution goes on, or may after a pause. */
export const mayStillSucceed = (plan: Plan, step: PlanStep, { execution, steps }: Snapshot): boolean =>
  (isPerforming(execution.status) || isUndecided(execution.status)) &&
  isFailureOpen(plan, step, steps[step.name]);

/** In a part of a list, the first failed item beyond those that are tolerated; otherwise undefined. */
export const firstTooMany = (plan: Plan, snapshot: Snapshot): Step | undefined =>
  plan.tolerated === undefined ? undefined : failedItems(plan, snapshot)[plan.tolerated];

/** The step whose failure stops the execution; in a part of a list, the first item that is too many. */
export function failureOf(plan: Plan, snapshot: Snapshot): Step | undefined {
  const tooMany = firstTooMany(plan, snapshot);
  if (tooMany !== undefined) return tooMany;
  const step = plan.steps.find((one) => {
    const record = snapshot.steps[one.name];
    return record?.status === 'failed' && !isFailureOpen(plan, one, record);
  });
  return step && snapshot.steps[step.name];
}

/** True if its predecessors are done, skipped or tolerated. */
export const isTurn = (step: PlanStep, snapshot: Snapshot): boolean =>
  step.after.every((name) => isSatisfied(snapshot.steps[name]));

/** When the step's turn began; a retry or the end of its execution begins a new turn. */
export const turnAt = (step: PlanStep, snapshot: Snapshot): number =>
  Math.max(
    snapshot.execution.startedAt,
    snapshot.execution.retries?.at(-1)?.at ?? 0,
    snapshot.execution.end?.at ?? 0,
    ...step.after.map((name) => snapshot.steps[name]?.changedAt ?? 0),
  );

/**
 * True if the step has not begun: it has no record, or one that counts as none (`execution/after-retry.ts`).
 */
export const isUnbegun = (record: Step | undefined): boolean =>
  record === undefined || record.status === 'ready';

/** True if its agent was never called: it was deferred before its first attempt. */
export const isUntried = ({ kind }: PlanStep, record: Step | undefined): boolean =>
  kind === 'agent' && record?.status === 'retrying' && record.attempt === 0;

/**
 * The status that people see. A step without a record waits for others or for an agent; one that was never
 * tried is not retrying.
 */
export const shownStatus = (step: PlanStep, snapshot: Snapshot): StepStatus | 'pending' => {
  const record = snapshot.steps[step.name];
  // No step gets its turn in an execution that has ended or is being undone.
  const { status } = snapshot.execution;
  const isOver = isTerminal(status) || status === 'compensating';
  if (record === undefined || isUnbegun(record))
    return !isOver && isTurn(step, snapshot) ? 'ready' : 'pending';
  return isUntried(step, record) ? 'ready' : record.status;
};

/** True if the step has not begun and it is its turn. It is ready if its condition holds, too (`applies`). */
export const isTurnToBegin = (step: PlanStep, snapshot: Snapshot): boolean =>
  isUnbegun(snapshot.steps[step.name]) && isTurn(step, snapshot);

/** True if the step has no condition, or its condition holds. */
export const applies = (step: PlanStep, snapshot: Snapshot): boolean =>
  step.when === undefined || evaluateExpression(step.when, scopeOf(snapshot)) === true;

/** True if the end of a child is not recorded yet. It may be under way, even if no record shows its start. */
export const hasOpenChildren = (children: Children | undefined): boolean =>
  children !== undefined && Object.keys(children.ended).length < children.count;

/**
 * Returns the number of the last successful round before the current one, or, during an undo, before the one
 * that is being undone; 0 if there is none. Failed tries do not count, because another try follows only if a
 * try left no effect, or a person vouched for that.
 */
export function roundBelow({ rounds, try: latest = 1 }: Children): number {
  let number = (rounds?.compensating ?? latest) - 1;
  while (rounds?.failed?.includes(number) === true) number -= 1;
  return number;
}

/** True if a round before the current one has succeeded and is not undone. */
export const hasEarlierRounds = (children: Children | undefined): boolean =>
  (children?.rounds?.done ?? 0) > 0 && children !== undefined && roundBelow(children) > 0;

/**
 * How many outputs of successful rounds must still be read after a tolerated failure of the step. The effects
 * of those rounds stay, so the author gets their outputs.
 */
export const answersOwed = (step: PlanStep, record: Step): number => {
  const { status, children } = record;
  if (!isRepeated(step) || !isTolerated(step) || status !== 'failed' || children === undefined) return 0;
  if (hasOutput(record)) return 0;
  return (children.rounds?.done ?? 0) + (children.ended[0]?.status === 'succeeded' ? 1 : 0);
};

/** True if the step's failure is tolerated and its output contains the earlier rounds' answers. */
const keepsAnswers = (record: Step | undefined): boolean =>
  record?.status === 'tolerated' && record.children?.rounds !== undefined;

/** True if some of the step's child executions are stopped and others must still be. */
export const isStopping = (record: Step | undefined): boolean =>
  record?.status === 'compensating' && record.children?.stop !== undefined;

/** True if the step's `within` has passed and some of its child executions must still be stopped. */
export const isEnding = (children: Children | undefined): boolean =>
  children?.stop !== undefined && children.stop.below < children.count;

/** True if a process that read an older state may be starting the step's child executions now. */
export const mayHaveChildren = (step: PlanStep, snapshot: Snapshot): boolean =>
  hasChildren(step) &&
  (snapshot.steps[step.name]?.status === 'running' ||
    isStopping(snapshot.steps[step.name]) ||
    (isTurnToBegin(step, snapshot) &&
      (applies(step, snapshot) || leftOutIn(step.when, snapshot) !== undefined)));
