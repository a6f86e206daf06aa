/**
 * Incidents: when, and on what terms, a person is asked about a step, or about the deadline of an execution
 * that cannot be undone.
 *
 * Owns: the steps to ask about, the time and the default, the transaction that opens an incident; for a
 * deadline also its choices, which all lead forward or leave things as they are, and what a resolution
 * writes. Does not own: what all questions have in common (`life.ts`), the table of kinds
 * (`operators/incidents.ts`), the incident of a pause (`holds/pause.ts`), when there is no way back
 * (`step/point-of-no-return.ts`), the deadline of an execution that can be undone (`execution/end-rules.ts`).
 *
 * Opening is one transaction of all records concerned. L1 it brings the wake time forward, because every
 * incident has a deadline with a default. A person is also asked when time is over behind a point of no
 * return. A resolution that goes on gives the execution its time once more; then a person is asked again. S10
 * one write closes an incident and makes its resolution's changes; at a deadline nothing is undone.
 */

import {
  type DecisionInputs,
  executionAfter,
  type ExecutionChanges,
  stepAfter,
  stop,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { Resolution } from '../decisions/events.ts';
import { isOutcomeRead } from '../plan/outcomes.ts';
import { type AgentStep, agentSteps, type ChildStep, type Plan, type PlanStep } from '../plan/plan.ts';
import { type Choice, type Incident, isOpen } from '../records/question.ts';
import { incidentNumber, incidentsIn, openIncidents, type Snapshot } from '../records/snapshot.ts';
import {
  type Execution,
  isForward,
  isLeased,
  isPerforming,
  isSatisfied,
  isUndecided,
  type Step,
} from '../records/state.ts';
import { effectOf, endsAsItIs } from '../step/effect.ts';
import { isAskedAtDeadline, lastPoint, mayHavePassed, undoableBeside } from '../step/point-of-no-return.ts';
import { attemptedVariant } from '../step/recovery.ts';
import type { Rule } from '../step/rule.ts';
import { mayFail } from '../step/turn.ts';
import { defined } from '../values/defined.ts';
import { closed, humanOf, nextReminder, opened, type OpenedWith } from './life.ts';

/**
 * The time for an answer if there is no way back, or an undo failed. Without an answer the execution ends as
 * failed and lists what is left.
 */
export const LAST_INCIDENT_MS: number = 7 * 86_400_000;

/**
 * The time for an answer if none is declared: an agent does not accept its step's input, or its answer is not
 * an output.
 */
const UNDECLARED_MS = 86_400_000;

const incidentOf = (state: Snapshot, step: string, kind: Incident['kind']): Incident | undefined =>
  incidentsIn(state).findLast((incident) => incident.step === step && incident.kind === kind);

/** True for a step about which a person can decide: an agent's step, or a child with a recovery. */
export type AskedStep = AgentStep | (ChildStep & { readonly recovery: NonNullable<ChildStep['recovery']> });

export const mayAskAbout = (step: PlanStep | undefined): step is AskedStep =>
  step?.kind === 'agent' || (step?.kind === 'child' && step.recovery !== undefined);

/** The first step that needs a person and about which none has been asked yet. */
export function stepToAskAbout(
  plan: Plan,
  state: Snapshot,
): { step: AskedStep; kind: Incident['kind'] } | undefined {
  for (const step of plan.steps) {
    if (!mayAskAbout(step)) continue;
    const record = state.steps[step.name];
    const kind = record && neededFor(plan, record, state.execution);
    // If a child could not undo something, the child itself asks a person.
    if (kind === undefined || (kind === 'undo' && step.kind === 'child')) continue;
    const known = incidentOf(state, step.name, kind);
    const isAsked = known !== undefined && (isOpen(known) || known.stepVersion === record?.version);
    if (!isAsked) return { step, kind };
  }
  return undefined;
}

function neededFor(plan: Plan, record: Step, execution: Execution): Incident['kind'] | undefined {
  if (record.status === 'compensation-failed') {
    // No person is asked about single items of a list.
    const isItem = plan.tolerated !== undefined && isForward(execution.status);
    // If the execution ends as it is, an answer would change nothing.
    return isItem || endsAsItIs({ execution }) || execution.status === 'paused' ? undefined : 'undo';
  }
  return record.status === 'waiting' && isPerforming(execution.status) ? 'recovery' : undefined;
}

export const openIncident: Rule = {
  apply: ask,
  says: { 'incident-opened': 'a person is asked' },
};

function ask(plan: Plan, state: Snapshot, inputs: DecisionInputs): Decision | undefined {
  const found = stepToAskAbout(plan, state);
  if (found === undefined) return undefined;
  const { step, kind } = found;
  const record = state.steps[step.name] as Step;
  const terms = isPerforming(state.execution.status)
    ? termsOf(plan, state, step, inputs.now)
    : { deadlineAt: inputs.now + LAST_INCIDENT_MS, otherwise: 'keep' as const };
  const wrongAnswer = kind === 'recovery' ? record.wrongAnswer : undefined;
  // One mistake of an agent is asked about once: while one item in this execution asks, the others are quiet.
  const isQuiet = wrongAnswer !== undefined && isListAsked(plan, state);
  const asked = {
    kind,
    step: step.name,
    stepVersion: record.version,
    failure: record.failure ?? { code: 'failed', message: 'the step failed' },
    wrongAnswer,
    quiet: isQuiet ? (true as const) : undefined,
    ...terms,
    remindAt: isQuiet ? undefined : nextReminder(plan, { step: step.name, ...terms }, inputs.now),
  };
  return opening(state, asked, inputs);
}

const isListAsked = (plan: Plan, state: Snapshot): boolean =>
  plan.tolerated !== undefined &&
  openIncidents(state).some(({ wrongAnswer, quiet }) => wrongAnswer !== undefined && quiet !== true);

/**
 * How long a person has, and the default: as declared, or as far as there is a way back. If the execution is
 * to go on afterwards, it needs time: the question takes at most half of the rest.
 */
function termsOf(
  plan: Plan,
  state: Snapshot,
  step: AskedStep,
  now: number,
): Pick<Incident, 'deadlineAt' | 'otherwise'> {
  const record = state.steps[step.name] as Step;
  const human = humanOf(step);
  // The end is certain, so the execution's own time does not limit the question.
  if (plan.onFailureOf !== undefined)
    return { deadlineAt: now + (human?.withinMs ?? UNDECLARED_MS), otherwise: 'continue' };
  const isFree = undoableBeside(plan, state, step) !== 'never' && !mayHavePassed(step, record);
  const leftMs = isFree ? Math.max(0, state.execution.deadlineAt - now) : Number.POSITIVE_INFINITY;
  if (human?.otherwise !== 'keep' && goesOnWithout(plan, step, record)) {
    const withinMs = Math.min(human?.withinMs ?? UNDECLARED_MS, Math.floor(leftMs / 2));
    // No work may begin beside an undo that may still act.
    const deadAt = record.status === 'waiting' ? 0 : effectOf(step, record).actsUntil;
    return { deadlineAt: Math.max(now + withinMs, deadAt), otherwise: 'continue' };
  }
  if (record.status !== 'waiting') return { deadlineAt: now + LAST_INCIDENT_MS, otherwise: 'keep' };
  // The declared default also applies if the execution's own time is shorter, as long as that counts.
  const withinMs = Math.min(human?.withinMs ?? (isFree ? UNDECLARED_MS : LAST_INCIDENT_MS), leftMs);
  return {
    deadlineAt: now + withinMs,
    otherwise: isFree && human?.otherwise !== 'keep' ? 'undo-all' : 'keep',
  };
}

/**
 * True if the failure is tolerated when nobody answers. False if the step may have acted, cannot be undone,
 * and a condition depends on its outcome.
 */
const goesOnWithout = (plan: Plan, step: AskedStep, record: Step): boolean =>
  mayFail(plan, step, record) &&
  (step.kind === 'child' ||
    !isOutcomeRead(plan, step.name) ||
    (record.status === 'waiting' &&
      !(record.mayHaveActed && cannotBeUndone(attemptedVariant(step, record)))));

const cannotBeUndone = ({ undo, effect }: AgentStep): boolean => undo === 'none' && effect !== 'none';

/**
 * A choice that is safe now or later: the statement that a person must make first, and when it becomes safe.
 */
export interface Offered {
  readonly choice: Choice;
  readonly needs?: 'nothingHappened';
  readonly notBefore?: number;
}

/** A kind of incident: a row of the table (`operators/incidents.ts`). */
export interface IncidentKind {
  /** @param plan during the execution's status */
  choices(plan: Plan, state: Snapshot, incident: Incident, now: number): Offered[];
  /** True if the execution has gone another way. */
  isMoot(plan: Plan, state: Snapshot, incident: Incident): boolean;
  /** The transaction of a possible answer, or of the default. */
  resolve(
    plan: Plan,
    state: Snapshot,
    incident: Incident,
    answer: Resolution,
    inputs: DecisionInputs,
  ): Decision;
}

/** An incident once it is closed: by an answer, by its deadline, or because it is moot. */
export const resolved = (
  incident: Incident,
  {
    closedBy,
    choice,
    reason,
    caller,
    commandId,
  }: Required<Pick<Incident, 'closedBy'>> & Partial<Omit<Resolution, 'closedBy'>>,
  inputs: DecisionInputs,
): Incident => closed(incident, { closedBy, choice, reason, caller, commandId }, inputs);

/** The write that opens an incident. */
export function opening(
  state: Snapshot,
  asked: Omit<OpenedWith<Incident>, 'number'>,
  inputs: DecisionInputs,
): Decision {
  const { step, deadlineAt, remindAt = deadlineAt } = asked;
  const question = opened<Incident>(state.execution, { number: incidentNumber(state), ...asked }, inputs);
  // S12 the process may die before the evaluation that follows.
  const wakeAt = Math.min(deadlineAt, remindAt);
  const asks = executionAfter(state.execution, 'adopt', inputs, { wakeAt });
  const note = { what: 'incident-opened', step };
  return writing(asks.id, { execution: asks, question }, evaluateNext(), note);
}

/** Asks about a deadline. Comes after `stopAtDeadline`, which handles executions that can be undone. */
export const askAboutDeadline: Rule = {
  apply: (plan, state, event) => {
    if (event.now < state.execution.deadlineAt || !isAskedAtDeadline(plan, state)) return undefined;
    const step = stepThatHangs(plan, state);
    const point = lastPoint(plan, state)?.name ?? '';
    const asked = {
      kind: 'deadline' as const,
      step: step?.name,
      stepVersion: step?.version ?? 0,
      failure: {
        code: 'deadline',
        message: `it did not end in time, and nothing is undone past the point of no return '${point}'`,
      },
      deadlineAt: event.now + LAST_INCIDENT_MS,
      otherwise: 'keep' as const,
    };
    return opening(state, asked, event);
  },
  dueAt: (plan, state) =>
    isAskedAtDeadline(plan, state)
      ? [
          {
            at: state.execution.deadlineAt,
            coming: () => ({ what: 'its time is over and a person is asked', who: 'person' }),
          },
        ]
      : [],
  says: { 'incident-opened': 'a person is asked' },
};

/** Statuses of a step that is not over and may have no attempt under way: a person may know its outcome. */
const HANGING: ReadonlySet<Step['status'] | undefined> = new Set(['retrying', 'accepted', 'unknown']);
const isHanging = (record: Step | undefined): record is Step =>
  HANGING.has(record?.status) && !isLeased(record);

const stepThatHangs = (plan: Plan, { steps }: Snapshot): Step | undefined =>
  agentSteps(plan)
    .map(({ name }) => steps[name])
    .find(isHanging);

export const DEADLINE: IncidentKind = {
  choices: (_plan, state, { step }) => {
    if (!isUndecided(state.execution.status)) return [];
    const hangs = step !== undefined && isHanging(state.steps[step]);
    return [{ choice: 'resume' }, ...(hangs ? [{ choice: 'give-output' as const }] : []), { choice: 'keep' }];
  },
  isMoot: (plan, { execution, steps }) =>
    execution.status === 'compensating' || plan.steps.every(({ name }) => isSatisfied(steps[name])),
  resolve: resolveDeadline,
};

/** Gives the execution its time once more if none is left and a person lets it go on. */
export const timeAgain = (
  plan: Plan,
  { deadlineAt }: Execution,
  now: number,
): Pick<ExecutionChanges, 'deadlineAt'> => (now < deadlineAt ? {} : { deadlineAt: now + plan.withinMs });

function resolveDeadline(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  answer: Resolution,
  inputs: DecisionInputs,
): Decision {
  const { execution } = state;
  const question = resolved(incident, answer, inputs);
  if (answer.choice === 'keep') {
    const { failure } = incident;
    const by = defined({ by: answer.caller });
    return stop(state, inputs, { kind: 'deadline', at: inputs.now, failure, undo: false, ...by }, question);
  }
  const record = state.steps[incident.step ?? ''];
  const step =
    answer.choice === 'give-output' && record !== undefined
      ? stepAfter(record, 'done', inputs, {
          changedAt: inputs.now,
          output: answer.output ?? null,
          failure: undefined,
          retryAt: undefined,
        })
      : undefined;
  const goesOn = executionAfter(execution, 'adopt', inputs, timeAgain(plan, execution, inputs.now));
  return writing(
    execution.id,
    { execution: goesOn, step, question },
    evaluateNext(step === undefined ? 'all' : [step.name]),
    { what: 'incident-resolved', detail: answer.choice },
  );
}
