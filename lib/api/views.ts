/**
 * The shape in which clients see executions.
 *
 * Owns: the shape of every answer. Does not own: workflows (`workflow-view.ts`), the records; fields that
 * only the roles need (tokens, write ids, versions, dispatches) stay inside.
 */

import { stateAfterRetry } from '../core/execution/after-retry.ts';
import { outputOf } from '../core/execution/output.ts';
import { askedBelow } from '../explain/asked-below.ts';
import type { Bounded } from '../core/operators/list-filter.ts';
import { choicesFor } from '../core/operators/incidents.ts';
import { leftByFailing, standingAtEnd } from '../core/operators/in-effect.ts';
import { isOnFailure, shownSteps } from '../core/plan/on-failure.ts';
import {
  type AgentStep,
  isCallback,
  isReceive,
  isRepeated,
  type Plan,
  type PlanStep,
  type Rounds,
} from '../core/plan/plan.ts';
import type { Children } from '../core/records/children.ts';
import { isAdmitted } from '../core/records/in-lane.ts';
import { LANE_STEP } from '../core/plan/lane.ts';
import { NotLoaded } from '../core/records/large-values.ts';
import {
  type CallbackQuestion,
  type Incident,
  isOpen,
  type Question,
  type InboxKey,
} from '../core/records/question.ts';
import { defined } from '../core/values/defined.ts';
import type { QuestionSubject } from '../core/records/question.ts';
import { riskNow } from '../core/records/risk.ts';
import { type Snapshot, incidentsIn, callbackOf } from '../core/records/snapshot.ts';
import { type Pause, pauseDeadlineAt } from '../core/records/pauses.ts';
import {
  type Accepted,
  callbackToken,
  type Execution,
  isForward,
  pauseOf,
  type Step,
} from '../core/records/state.ts';
import { underWay } from '../core/holds/pause.ts';
import { attemptedVariant, variantOf } from '../core/step/recovery.ts';
import { leftOutOf } from '../core/step/history.ts';
import { shownStatus } from '../core/step/turn.ts';
import { childIds, idsOfTries } from '../core/waiting/child.ts';
import { itemsSoFar } from '../core/waiting/map.ts';
import { roundMessage, roundOf } from '../core/waiting/rounds.ts';
import { receivedBy, waitsUntil } from '../core/waiting/waits.ts';
import { rootOf } from '../core/values/names.ts';
import type {
  AcceptedView,
  Asked,
  CallbackQuestionView,
  ExecutionSummary,
  ExecutionView,
  PauseView,
  IncidentView,
  StepView,
  Stopped,
} from './answers.ts';
import { attemptsView } from './attempts.ts';

const NONE: Bounded<InboxKey> = { items: [] };

/**
 * @param now for whether it is at risk
 * @param asked open questions, including those of executions that its steps run
 */
export const executionSummary = (
  execution: Execution,
  now: number,
  asked: Bounded<InboxKey> = NONE,
): ExecutionSummary => ({
  executionId: execution.id,
  workflow: execution.workflow,
  plan: execution.plan,
  status: execution.status,
  startedAt: execution.startedAt,
  ...defined({
    wakeAt: execution.wakeAt,
    step: standsAt(execution, now),
    asked: askedBelow(asked, execution.id),
  }),
  ...riskNow(execution, now),
  ...defined({
    startedBy: execution.startedBy,
    endedAt: execution.endedAt,
    code: execution.cause?.failure.code,
    cause: execution.cause,
    tags: execution.tags,
    parent: execution.parent,
  }),
});

/** The step that matters now, by the execution's own record: a list reads no steps. */
const standsAt = (execution: Execution, now: number): string | undefined =>
  (isInQueue(execution) ? LANE_STEP : undefined) ??
  riskNow(execution, now).risk?.step ??
  execution.asks ??
  execution.cause?.step;

/** True while it waits for a place in its lane. */
const isInQueue = (execution: Execution): boolean =>
  execution.lane !== undefined && isForward(execution.status) && !isAdmitted(execution);

/**
 * @param now for the choices that are safe now
 * @param asked open questions of executions that its steps run
 */
export function executionView(
  stored: Snapshot,
  plan: Plan,
  now: number,
  asked: Bounded<InboxKey> = NONE,
): ExecutionView {
  const state = stateAfterRetry(plan, stored);
  return {
    ...executionSummary(state.execution, now, asked),
    ...history(state, now),
    ...body(state, plan, now, asked),
  };
}

const pauseView = (state: Snapshot, pause: Pause, now: number): PauseView => ({
  ...pause,
  deadlineAt: pauseDeadlineAt(pause),
  ...(pause === pauseOf(state.execution) ? defined({ underWay: underWay(state, now) }) : {}),
});

const history = ({ execution, steps }: Snapshot, now: number): Partial<ExecutionView> => ({
  ...(execution.pauses === undefined
    ? {}
    : { pauses: execution.pauses.map((pause) => pauseView({ execution, steps }, pause, now)) }),
  ...defined({ retries: execution.retries, replaces: execution.replaces, people: execution.people }),
  ...(execution.status === 'following-up' && execution.end !== undefined
    ? { end: { status: execution.end.status, at: execution.end.at } }
    : {}),
});

const body = (
  state: Snapshot,
  plan: Plan,
  now: number,
  asked: Bounded<InboxKey>,
): Omit<ExecutionView, keyof ExecutionSummary> => ({
  deadlineAt: state.execution.deadlineAt,
  input: state.execution.input,
  ...shownOutput(plan, state),
  ...defined({ omitted: isInputOmitted(state) ? ['input'] : undefined }),
  ...defined({ standing: standingAtEnd(plan, state) }),
  incidents: incidentsIn(state).map((incident) => ({
    ...questionView(incident),
    choices: choicesFor(plan, state, incident, now).map((one) =>
      one.choice === 'keep' ? { ...one, leaves: leftByFailing(plan, state, incident) } : one,
    ),
  })),
  steps: shownSteps(plan, state).map((step) => ({
    name: step.name,
    kind: step.kind,
    ...(isOnFailure(plan, step.name) ? { onFailure: true } : {}),
    ...(step.kind === 'agent' ? { agent: agentOf(step, state.steps[step.name]) } : {}),
    after: step.after,
    ...(step.pointOfNoReturn === true ? { pointOfNoReturn: true } : {}),
    ...stepView(state.steps[step.name], shownStatus(step, state), state.execution),
    ...attemptsOf(plan, step, state),
    ...childrenView(step, state, asked),
    ...awaited(step, state),
  })),
});

const isInputOmitted = ({ execution: { input, inputAt } }: Snapshot): boolean =>
  inputAt !== undefined && input === null;

/** The output, or its size if it is made of values that are too large to be loaded. */
function shownOutput(plan: Plan, state: Snapshot): ReturnType<typeof outputOf> {
  try {
    return outputOf(plan, state);
  } catch (error) {
    if (error instanceof NotLoaded) return defined({ outputBytes: state.execution.outputBytes });
    throw error;
  }
}

/** The agent of the next attempt, if one is to come; else of the latest. */
const agentOf = (step: AgentStep, record: Step | undefined): string =>
  record === undefined || TO_COME.has(record.status)
    ? variantOf(step, record?.stage ?? 0).agent
    : attemptedVariant(step, record).agent;

const TO_COME: ReadonlySet<Step['status']> = new Set(['ready', 'retrying']);

function attemptsOf(
  plan: Plan,
  step: PlanStep,
  state: Snapshot,
): Partial<Pick<StepView, 'attempts' | 'attemptsLeftOut'>> {
  const record = state.steps[step.name];
  if (record === undefined) return {};
  const attemptsLeftOut = leftOutOf(record);
  return {
    ...(step.kind === 'agent' ? { attempts: attemptsView(plan, step, record, state) } : {}),
    ...defined({ attemptsLeftOut }),
  };
}

type Awaited = Pick<StepView, 'waitsUntil' | 'token' | 'question' | 'message'>;

/** For a step that no agent performs: until when it waits, and the token with which it is answered. */
function awaited(step: PlanStep, state: Snapshot): Awaited {
  const untilAt = waitsUntil(step, state);
  const token = isCallback(step) ? callbackToken(state.execution, step.name) : undefined;
  const question = callbackOf(state, step.name);
  return {
    ...defined({
      message: messageOf(step, state.steps[step.name]),
      waitsUntil: untilAt,
      token: untilAt === undefined ? undefined : token,
    }),
    ...(question !== undefined && isOpen(question) ? { question: questionView(question) } : {}),
  };
}

/** The message that a step or its latest round waits for or took, and the one for its next round. */
function messageOf(step: PlanStep, record: Step | undefined): StepView['message'] {
  const next = nextRoundMessage(step, record);
  const name = isReceive(step) ? step.message : (roundMessage(step, record)?.name ?? next);
  return name === undefined ? undefined : { name, ...(record && receivedBy(record)), ...defined({ next }) };
}

/** The message for the next round; undefined while the latest one waits for its own, or is the last. */
function nextRoundMessage(step: PlanStep, record: Step | undefined): string | undefined {
  if (!isRepeated(step) || record?.children?.rounds?.awaits !== undefined) return undefined;
  const { first, message, atMost } = step.rounds;
  const isFirstOwn = record?.children === undefined && first !== undefined;
  return isFirstOwn || roundOf(record?.children) >= atMost ? undefined : message?.name;
}

/** The reply to a stop or a resolution: how the execution goes on, and what is in effect now. */
export function stoppedView({ execution, ...stored }: Snapshot, plan: Plan): Stopped {
  const state = stateAfterRetry(plan, { execution, ...stored });
  return {
    executionId: execution.id,
    status: execution.status,
    ...(execution.cause?.undo === false ? { undo: false } : {}),
    ...defined({ standing: standingAtEnd(plan, state) }),
  };
}

/** A child or map step's executions, and how many of them have ended how. */
function childrenView(
  step: PlanStep,
  { execution, steps }: Snapshot,
  open: Bounded<InboxKey>,
): Pick<StepView, 'children'> {
  const record = steps[step.name];
  if (record?.children === undefined) return {};
  const { children } = record;
  const asked = askedBelow(open, execution.id, step.name);
  if (isRepeated(step))
    return { children: { ...roundsView(step.rounds, record, children, execution), ...defined({ asked }) } };
  const ends = Object.values(children.ended).map(({ status }) => status);
  const ended = Object.fromEntries(
    [...new Set(ends)].map((one) => [one, ends.filter((end) => end === one).length]),
  );
  const executionIds = childIds(execution, record).slice(0, MAX_SHOWN_CHILDREN);
  const tried = children.try === undefined ? {} : { try: children.try };
  const items = step.kind === 'map' ? itemsSoFar(children) : undefined;
  const { count, started } = children;
  return { children: { executionIds, count, started, ended, ...defined({ items, asked }), ...tried } };
}

/** The executions of all rounds: how the latest ended, and how many others succeeded. */
function roundsView(
  { atMost }: Rounds,
  record: Step,
  children: Children,
  execution: Execution,
): NonNullable<StepView['children']> {
  const ids = idsOfTries(execution, record);
  const { done = 0, compensating } = children.rounds ?? {};
  const latest = children.ended[0]?.status;
  const succeeded = done + (latest === 'succeeded' ? 1 : 0);
  return {
    executionIds: ids.slice(-MAX_SHOWN_CHILDREN),
    count: ids.length,
    started: ids.length - (children.started === 0 ? 1 : 0),
    ended: {
      ...(succeeded === 0 ? {} : { succeeded }),
      ...(latest === undefined || latest === 'succeeded' ? {} : { [latest]: 1 }),
    },
    rounds: { done: succeeded, atMost, ...defined({ compensating }) },
  };
}

/** A list of 10,000 items has 400 executions; the rest follow the same pattern. */
const MAX_SHOWN_CHILDREN = 100;

type StepRecord = Pick<StepView, 'status' | 'attempts'> & Partial<StepView>;
function stepView(
  step: Step | undefined,
  status: StepView['status'],
  { status: ofExecution }: Execution,
): StepRecord {
  if (step === undefined) return { status, attempts: [] };
  const { attempt, changedAt, attempts, claimedAt, leaseUntil, output, failure } = step;
  const { deferred, progress, by, wrongAnswer, accepted } = step;
  // In a pause no attempt is made at that time.
  const retryAt = ofExecution === 'paused' ? undefined : step.retryAt;
  const times = { attempt, claimedAt, leaseUntil, retryAt, deferred };
  const found = { output, failure, wrongAnswer, progress, by, accepted: accepted && acceptedView(accepted) };
  const present = Object.entries({ ...times, ...found }).filter(([, value]) => value !== undefined);
  return {
    status,
    ...Object.fromEntries(present),
    ...(step.mayHaveActed ? { mayHaveActed: true } : {}),
    ...(step.outputAt !== undefined && output === undefined ? { omitted: ['output'] } : {}),
    changedAt,
    attempts,
  };
}

function acceptedView({ token, at, untilAt, asked, progress }: Accepted): AcceptedView {
  return { at, untilAt, asked, ...defined({ token, progress }) };
}

/** For the inbox only: an execution's own answer has its workflow and tags already. */
export const belongingOf = (executionId: string, { workflow, tags, root }: QuestionSubject): Asked => ({
  executionId,
  workflow,
  ...defined({ tags, root: root && { executionId: rootOf(executionId), ...root } }),
});

export function questionView(question: Incident): IncidentView;
export function questionView(question: CallbackQuestion): CallbackQuestionView;
export function questionView(question: Question): IncidentView | CallbackQuestionView;
export function questionView(question: Question): IncidentView | CallbackQuestionView {
  const { version: _v, writeId: _id, life: _life, unannounced: _not, ...rest } = question;
  const { workflow: _workflow, tags: _tags, root: _root, ...shown } = rest;
  const { quiet: _quiet, ...seen }: typeof shown & { readonly quiet?: true } = shown;
  return seen;
}
