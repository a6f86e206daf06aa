/**
 * The retry of a failed execution: it goes on where it failed, under the next epoch.
 *
 * Owns: when that is safe, and the one write that does it (F8). Does not own: the state of the earlier
 * epoch's steps after it (`execution/after-retry.ts`), the resolutions of open incidents (`incidents.ts`).
 *
 * S18 another input is another request, under another effect key. So only a step without an effect can get
 * one, and its record begins again, with that input, in the write of the retry.
 *
 * S1 this is the only way out of a terminal status. S10 it is impossible after anything was undone: no
 * forward execution was ever in such a state. To repeat everything, start another execution.
 */

import { longestMs } from '../plan/lane.ts';
import { isOutcomeRead } from '../plan/outcomes.ts';
import type { Plan, PlanStep } from '../plan/plan.ts';
import type { Caller } from '../values/caller.ts';
import { executionAfter, type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import { defined } from '../values/defined.ts';
import type { Incident } from '../records/question.ts';
import type { Json } from '../values/json.ts';
import { openIncidents, type Snapshot } from '../records/snapshot.ts';
import type { Execution, Step } from '../records/state.ts';
import { effectOf } from '../step/effect.ts';
import { attemptedVariant } from '../step/recovery.ts';
import { failedItems } from '../step/turn.ts';
import { laneAfterRetry } from '../waiting/lane.ts';
import { goesOnWithChildren, restartProblem } from '../waiting/child-retry.ts';
import { resolutionProblem } from '../operators/incidents.ts';
import { MAX_PAST } from '../holds/pause.ts';
import { timeText } from '../values/text.ts';

/** The open incidents that a retry answers, one after the other. */
export const openRecoveryIncidents = (
  state: Snapshot,
  asOf: number = Number.POSITIVE_INFINITY,
  upTo: number = Number.POSITIVE_INFINITY,
): Incident[] =>
  openIncidents(state).filter(
    ({ kind, openedAt, number }) => kind === 'recovery' && openedAt <= asOf && number <= upTo,
  );

export const RETRY_RESOLUTION = { choice: 'retry', closedBy: 'answer' } as const;

/** Why a retry is not possible; undefined if it is. */
export function retryProblem(plan: Plan, state: Snapshot, now: number): string | undefined {
  switch (state.execution.status) {
    case 'failed':
      return failedProblem(plan, state, now);
    case 'waiting':
      return waitingProblem(plan, state, now);
    case 'succeeded':
    case 'compensated':
    case 'canceled':
      return `it has ended as '${state.execution.status}', and only a failed execution can be retried; ${instead(state)}`;
    case 'compensating':
      return 'it is being undone';
    case 'following-up':
      return 'its on-failure steps are under way: retry it when they are over';
    case 'paused':
      return 'it is paused: resume it first';
    case 'running':
      return 'it is running: its steps are tried again by themselves';
  }
}

const instead = ({ execution }: Snapshot): string =>
  `start a new execution with "replaces": "${execution.id}"`;

const TAKEN_BACK: ReadonlySet<Step['status']> = new Set([
  'compensating',
  'compensated',
  'compensation-failed',
]);

function failedProblem(plan: Plan, state: Snapshot, now: number): string | undefined {
  const { parent } = state.execution;
  if (parent !== undefined) return `it belongs to step '${parent.step}' of execution ${parent.executionId}`;
  const problem = restartProblemOf(plan, state);
  if (problem !== undefined) return problem;
  // Dependents of a step that was left as it is may begin at once, so the retry waits until none of its
  // attempts may act, nor any in the child executions that the retry replaces.
  for (const step of plan.steps) {
    const record = state.steps[step.name];
    const { actsUntil } = effectOf(step, record);
    if ((record?.status === 'tolerated' || step.kind !== 'agent') && actsUntil > now)
      return `an attempt of '${step.name}' may still be acting: try again after ${timeText(actsUntil)}`;
  }
  return undefined;
}

/**
 * Why a failed step cannot get another input; undefined if it can.
 * @param name of the step; if absent, exactly one must have failed
 */
export function inputProblem(plan: Plan, state: Snapshot, name?: string): string | undefined {
  const { status } = state.execution;
  if (status === 'waiting')
    return "it has an open incident: resolve that with 'retry-with-input' to give its step another input";
  const failed = failedSteps(plan, state, name);
  const [step, ...others] = failed;
  const names = failedSteps(plan, state).map((one) => `'${one.name}'`);
  if (step === undefined)
    return names.length === 0
      ? 'none of its steps has failed, so none can be given another input'
      : `step '${name}' has not failed; only a failed step can be given another input: ${names.join(', ')}`;
  if (others.length > 0)
    return `several steps have failed, ${names.join(', ')}: name the one that gets the input`;
  if (step.kind !== 'agent') return `no agent performs step '${step.name}', so it takes no other input`;
  return state.steps[step.name]?.mayHaveActed === true
    ? `an attempt of '${step.name}' may have acted, and another input would be another request; ${instead(state)}`
    : undefined;
}

const failedSteps = (plan: Plan, { steps }: Snapshot, name?: string): PlanStep[] =>
  plan.steps.filter(
    (step) => steps[step.name]?.status === 'failed' && (name === undefined || step.name === name),
  );

/** The fields that a step loses when it begins again. It keeps its effect key and that it may have acted. */
export const beginsAgain = (epoch: number, stage: number, changedAt: number): StepChanges => ({
  epoch,
  stage,
  stageAttempt: 0,
  probes: 0,
  afterFailure: undefined,
  isOverTime: undefined,
  isPermanent: undefined,
  nextStage: undefined,
  retryAt: undefined,
  children: undefined,
  changedAt,
});

/** The record of the failed step that gets another input; `inputProblem` was checked before. */
export const stepForInput = (plan: Plan, state: Snapshot, name?: string): Step | undefined =>
  state.steps[failedSteps(plan, state, name)[0]?.name ?? ''];

function withInput(
  plan: Plan,
  state: Snapshot,
  { input, step: name }: Given,
  inputs: DecisionInputs,
): Step | undefined {
  const record = stepForInput(plan, state, name);
  if (record === undefined || input === undefined) return undefined;
  return stepAfter(record, 'restart', inputs, {
    status: 'ready',
    ...beginsAgain(state.execution.epoch + 1, 0, inputs.now),
    by: undefined,
    givenInput: input,
  });
}

/**
 * Why a failed execution cannot go on where it failed; undefined if it can. Also for an execution that
 * belongs to another.
 */
export function restartProblemOf(plan: Plan, state: Snapshot): string | undefined {
  const undone = plan.steps.filter(({ name }) => {
    const record = state.steps[name];
    return record !== undefined && TAKEN_BACK.has(record.status);
  });
  if (undone.length > 0) {
    const names = undone.map(({ name }) => `'${name}'`).join(', ');
    return `the undo of ${names} has begun, and what is undone is not done again by the same execution; ${instead(state)}`;
  }
  for (const step of plan.steps) {
    const { name } = step;
    const record = state.steps[name];
    const { children } = record ?? {};
    const goesOn = record !== undefined && children !== undefined && goesOnWithChildren(step, record);
    const problem = goesOn ? restartProblem(step, children, record) : undefined;
    if (problem !== undefined) return `step '${name}' cannot go on: ${problem}; ${instead(state)}`;
  }
  const left = plan.steps.find((step) => wasLeft(plan, state.steps[step.name]));
  if (left !== undefined)
    return `'${left.name}' may be in effect, because its undo was not finished, and another step asks whether it failed; ${instead(state)}`;
  const final = failedItems(plan, state).filter(({ status }) => status === 'tolerated').length;
  if (plan.tolerated !== undefined && final > plan.tolerated)
    return `${final} of its items failed for good, and ${plan.tolerated} are tolerated; ${instead(state)}`;
  const unsafe = plan.steps.filter((step) => isUnsafeToRestart(step, state.steps[step.name]));
  if (unsafe.length === 0) return undefined;
  const names = unsafe.map(({ name }) => `'${name}'`).join(', ');
  return `${names} may have acted, and its effect can be neither probed nor repeated; ${instead(state)}`;
}

/**
 * True if it was tolerated only because the execution ended as it was, not because a person let it continue:
 * steps that depend on its failure cannot begin.
 */
const wasLeft = (plan: Plan, record: Step | undefined): boolean =>
  record?.status === 'tolerated' &&
  record.mayHaveActed &&
  record.afterFailure !== 'continue' &&
  isOutcomeRead(plan, record.name);

const isUnsafeToRestart = (step: PlanStep, record: Step | undefined): boolean =>
  step.kind === 'agent' &&
  (record?.status === 'failed' || record?.status === 'fenced') &&
  record.mayHaveActed &&
  attemptedVariant(step, record).effect === 'unsafe';

function waitingProblem(plan: Plan, state: Snapshot, now: number): string | undefined {
  const questions = openRecoveryIncidents(state);
  if (questions.length === 0) return 'none of its open questions is about a step that could be tried again';
  const problems = questions.flatMap((incident) => {
    const problem = resolutionProblem(plan, state, incident, RETRY_RESOLUTION, now);
    return problem === undefined ? [] : [`incident ${incident.number}, step '${incident.step}': ${problem}`];
  });
  return problems.length === 0 ? undefined : problems.join('; ');
}

interface Given {
  readonly input?: Json;
  readonly step?: string;
}

interface Asked extends Pick<Execution, 'commands'>, Given {
  readonly reason: string;
  readonly by?: Caller;
}

/** Retries a failed execution; `retryProblem` and, for an input, `inputProblem` were checked before. */
export function retried(
  plan: Plan,
  state: Snapshot,
  { reason, commands, by, ...given }: Asked,
  inputs: DecisionInputs,
): Decision {
  const { execution } = state;
  const one = { at: inputs.now, reason, ...defined({ by, cause: execution.cause }) };
  const again = executionAfter(execution, 'retry', inputs, {
    epoch: execution.epoch + 1,
    cause: undefined,
    end: undefined,
    endedAt: undefined,
    deadlineAt: inputs.now + longestMs(plan),
    ...laneAfterRetry(execution.lane),
    retries: [...(execution.retries ?? []), one].slice(-MAX_PAST),
    commands,
    dispatches: {},
  });
  const step = withInput(plan, state, given, inputs);
  return writing(execution.id, { execution: again, step }, evaluateNext('all'), { what: 'retried' });
}
