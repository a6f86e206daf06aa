/**
 * The records of an execution as they count after its retry, derived from the stored ones by its epoch and
 * its status.
 *
 * Owns: the new start of a step that failed or was fenced before the retry, and of the on-failure steps if
 * the execution fails once more. Does not own: when that takes place (`operators/retry.ts`).
 *
 * This file writes nothing: one write retries an execution, whatever the number of steps. Each step adopts
 * its new status with its own next write (F8). `decide` applies this first, so every rule sees only these
 * records. Their versions are the stored ones, on which writes are conditional. S2 all moves are in the
 * tables.
 */

import { beginsAgain } from '../operators/retry.ts';
import { isOnFailure, onFailureSteps } from '../plan/on-failure.ts';
import type { Plan, PlanStep } from '../plan/plan.ts';
import { blankStep, stepAs, type StepChanges } from '../decisions/change.ts';
import { firstDefined, defined } from '../values/defined.ts';
import { isAdmitted } from '../records/in-lane.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Execution, Step } from '../records/state.ts';
import { hasOutput } from '../records/value-ref.ts';
import { attemptedVariant, changesBetween, isRepeatable } from '../step/recovery.ts';
import {
  childrenRestarted,
  goesOnWithChildren,
  takesNewChildren,
  triedAgain,
  triesRoundAgain,
} from '../waiting/child-retry.ts';
import { isUnbegunRound } from '../waiting/rounds.ts';

/**
 * Returns the state as it is after a retry; the same snapshot if no record differs. @param plan as it is
 * stored
 */
export function stateAfterRetry(plan: Plan, state: Snapshot): Snapshot {
  let steps: Record<string, Step> | undefined;
  for (const step of stepsOf(plan, state.execution)) {
    const record = state.steps[step.name];
    const counted = record && stepAfterRetry(plan, step, record, state.execution);
    if (counted === undefined || counted === record) continue;
    steps ??= { ...state.steps };
    steps[step.name] = counted;
  }
  return steps === undefined ? state : { ...state, steps };
}

const stepsOf = (plan: Plan, { status }: Execution): readonly PlanStep[] =>
  status === 'following-up' ? [...plan.steps, ...onFailureSteps(plan)] : plan.steps;

function stepAfterRetry(plan: Plan, step: PlanStep, record: Step, execution: Execution): Step {
  const stale = record.epoch < execution.epoch;
  if (plan.onFailure !== undefined && isOnFailure(plan, step.name))
    return stale ? renewedStep(record, execution) : record;
  // A place in a lane belongs to one epoch: each step waits for the place of the new epoch.
  if (stale && step.kind === 'lane') return queuesAgain(record, execution);
  if (stale && (record.status === 'failed' || record.status === 'fenced'))
    return restartedStep(step, record, execution);
  return record;
}

/**
 * Restarts a step of an earlier epoch. If the step may have acted, it stays on the stage that acted, where it
 * is probed, or repeated if that is harmless. Otherwise its recovery begins again.
 */
function restartedStep(step: PlanStep, record: Step, execution: Execution): Step {
  const { children } = record;
  const { epoch, retries, lane } = execution;
  // Its time begins with its place: until then it cannot begin (seed 40971).
  const placedAt = isAdmitted(execution) ? lane?.placedAt : undefined;
  const changedAt = Math.max(record.changedAt, retries?.at(-1)?.at ?? 0, placedAt ?? 0);
  const goesOn = children !== undefined && goesOnWithChildren(step, record);
  if (goesOn && isUnbegunRound(children))
    return stepAs(record, 'begin-try', {
      ...beginsAgain(epoch, 0, changedAt),
      failure: undefined,
      children: { ...triedAgain(record, children), ended: {} },
    });
  if (goesOn && triesRoundAgain(children))
    return stepAs(record, 'restart', {
      status: 'retrying',
      ...beginsAgain(epoch, 0, changedAt),
      failure: undefined,
      output: undefined,
      retryAt: changedAt,
      children: triedAgain(record, children),
    });
  if (goesOn && !takesNewChildren(step, children))
    return stepAs(record, 'begin-try', {
      epoch,
      changedAt,
      failure: undefined,
      output: undefined,
      afterFailure: undefined,
      stageAttempt: 0,
      isOverTime: undefined,
      isPermanent: undefined,
      children: childrenRestarted(record, children),
    });
  const acted = record.mayHaveActed;
  const stage = acted ? record.stage : 0;
  const { recovery = [] } = step.kind === 'agent' || step.kind === 'child' ? step : {};
  const changes = changesBetween({ recovery }, stage, record.stage);
  const status = restartOf(step, record);
  const isAnswered = status === 'answered';
  return stepAs(record, isAnswered ? 'restart-answered' : 'restart', {
    status,
    ...beginsAgain(epoch, stage, changedAt),
    ...(acted ? { restarted: true as const } : {}),
    // An answer that came before the step's turn is kept, with the caller who gave it.
    ...(isAnswered ? {} : { by: undefined }),
    // An agent's next attempt replaces the failure; a step that no agent performs may end without one.
    ...(step.kind === 'agent' || isAnswered ? {} : { failure: undefined }),
    ...(changes ? { givenInput: undefined } : {}),
    ...(step.kind === 'child' ? firstTry(record, changes) : {}),
  });
}

/**
 * The changes with which the tries of a child begin again, with the first try's input, or with the input that
 * a person gave for it.
 */
const firstTry = ({ givenInput, keyInput, keyVariant }: Step, changes: boolean): StepChanges => ({
  keyVariant: 0,
  keyInput: firstDefined(changes ? undefined : givenInput, keyVariant === 0 ? keyInput : undefined),
  givenInput: undefined,
  failure: undefined,
  output: undefined,
});

/**
 * Begins an on-failure step of an earlier end as if it had no record, under another effect key (S18). It
 * keeps only its history, and the number of its attempts, which identifies its messages.
 */
const renewedStep = (record: Step, { life, epoch, end }: Execution): Step => ({
  ...blankStep(record.name, { life, epoch }),
  version: record.version,
  writeId: record.writeId,
  attempt: record.attempt,
  processDeadlineAt: record.processDeadlineAt,
  attempts: record.attempts.map((attempt) => ({ epoch: record.epoch, ...attempt })),
  ...defined({ leftOut: record.leftOut }),
  changedAt: Math.max(record.changedAt, end?.at ?? 0),
});

/** Restores the lane's step as if it had never waited. */
const queuesAgain = (
  { name, version, writeId, changedAt }: Step,
  { life, epoch, retries }: Execution,
): Step => ({
  ...blankStep(name, { life, epoch }),
  version,
  writeId,
  changedAt: Math.max(changedAt, retries?.at(-1)?.at ?? 0),
});

/** Returns the next status of a step that begins again. */
function restartOf(step: PlanStep, record: Step): 'ready' | 'retrying' | 'unknown' | 'answered' {
  // Keeps an answer that came before the callback's turn: the external party was assured that it is stored.
  if (step.kind !== 'agent' && record.status === 'fenced' && hasOutput(record)) return 'answered';
  if (!record.mayHaveActed || step.kind !== 'agent') return 'ready';
  return isRepeatable(attemptedVariant(step, record)) ? 'retrying' : 'unknown';
}
