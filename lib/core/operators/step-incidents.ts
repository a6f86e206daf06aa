/**
 * Incidents about a step: no automatic try is left, or an undo has failed.
 *
 * Owns: the choices that are safe now, what each writes, when such an incident is moot. Does not own: the
 * other kinds and what all have in common (`incidents.ts`), when one is opened (`questions/incident.ts`).
 *
 * S10 a resolution that could leave an effect behind unseen needs a person's word that nothing happened, and
 * is offered only once nothing can still happen. No choice is offered that would undo steps behind a point of
 * no return.
 */

import { isTolerated } from '../plan/outcomes.ts';
import {
  type AgentStep,
  agentStep,
  type ChildStep,
  graphOf,
  type Plan,
  type PlanStep,
} from '../plan/plan.ts';
import {
  type DecisionInputs,
  executionAfter,
  stepAfter,
  type StepChanges,
  stop,
} from '../decisions/change.ts';
import { evaluateNext, writing } from '../decisions/decision.ts';
import type { Resolution } from '../decisions/events.ts';
import { type Failure, MAX_FAILURE_CHARS, UNANSWERED } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import { cut } from '../values/text.ts';
import type { Choice, Incident } from '../records/question.ts';
import type { StepEvent } from '../moves.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { type Cause, type Execution, isPerforming, isUndecided, type Step } from '../records/state.ts';
import { mayHavePassed, isUndoable, undoable } from '../step/point-of-no-return.ts';
import { effectOf, endsAsItIs } from '../step/effect.ts';
import { settlesAt } from '../step/process-deadline.ts';
import { attemptedVariant, isRepeatable } from '../step/recovery.ts';
import { whyItFailed } from '../step/tolerance.ts';
import { mayFail } from '../step/turn.ts';
import { isCleanEnd, vouchedFor } from '../waiting/child-tries.ts';
import { type IncidentKind, type Offered, resolved, timeAgain } from '../questions/incident.ts';

/** The incident of a step without automatic tries left. */
export const RECOVERY: IncidentKind = {
  choices: recoveryChoices,
  isMoot: (_plan, { execution, steps }, { step = '' }) =>
    steps[step]?.status !== 'waiting' || execution.status === 'compensating',
  resolve: (...asked) => resolveStep(recoveryAfter, ...asked),
};

/** The incident of an effect that could not be undone. */
export const UNDO: IncidentKind = {
  choices: undoChoices,
  isMoot: (_plan, { steps }, { step = '' }) => steps[step]?.status !== 'compensation-failed',
  resolve: (...asked) => resolveStep(undoAfter, ...asked),
};

/** True if the execution performs steps, or will after a pause. */
const mayGoOn = ({ execution: { status } }: Snapshot): boolean => status === 'paused' || isPerforming(status);

function recoveryChoices(plan: Plan, state: Snapshot, { step: name = '' }: Incident, now: number): Offered[] {
  const step = graphOf(plan).step.get(name);
  const record = state.steps[name];
  if (record === undefined || !mayGoOn(state)) return [];
  if (step?.kind === 'child') return choicesForChild(plan, state, step, record, now);
  if (step?.kind !== 'agent') return [];
  const after = effectOf(step, record).actsUntil;
  const { effect } = attemptedVariant(step, record);
  const careful = record.mayHaveActed
    ? { ...(effect === 'none' ? {} : { needs: 'nothingHappened' as const }), ...from(after, now) }
    : {};
  const again = isRepeatable({ ...step, effect }) ? {} : careful;
  if (record.wrongAnswer !== undefined)
    return choicesForAnswer(plan, state, step, effect === 'probed' ? {} : again);
  return [
    { choice: 'retry', ...again },
    { choice: 'retry-with-input', ...careful },
    { choice: 'give-output' },
    { choice: 'skip', ...careful },
    // The step itself may be past the point of no return: then a person must say that it is not.
    ...(isTolerated(step)
      ? [{ choice: 'continue' } as const]
      : undoable(plan, state, step.name) === 'now'
        ? [{ choice: 'undo-all' as const, ...(mayHavePassed(step, record) ? careful : {}) }]
        : []),
    // An execution that follows up already has its end, which no on-failure step changes.
    ...(plan.onFailureOf === undefined ? [{ choice: 'keep' } as const] : []),
  ];
}

const from = (at: number, now: number): Omit<Offered, 'choice'> => (at > now ? { notBefore: at } : {});

function undoChoices(plan: Plan, state: Snapshot, { step: name = '' }: Incident, now: number): Offered[] {
  const step = agentStep(plan, name);
  const record = state.steps[name];
  if (step === undefined || record === undefined) return [];
  const deadAt = settlesAt(attemptedVariant(step, record), record);
  // If the execution ends with its effects in place, no undo is repeated.
  return [
    ...(endsAsItIs(state) ? [] : [{ choice: 'retry' } as const]),
    // A person may have stopped accepted work. If the execution goes on beside it, the work must be over
    // (S20).
    { choice: 'skip', ...from(deadAt, now) },
    ...(mayGoOn(state) && isTolerated(step)
      ? [{ choice: 'continue' as const, ...from(Math.max(deadAt, effectOf(step, record).actsUntil), now) }]
      : []),
    { choice: 'keep' },
  ];
}

/**
 * Returns the choices when the work is done, but its agent's answer is not an output. No choice may repeat or
 * forget the work: a person gives the right answer, or has the agent asked again.
 */
function choicesForAnswer(
  plan: Plan,
  state: Snapshot,
  step: AgentStep,
  again: Omit<Offered, 'choice'>,
): Offered[] {
  const isFree = undoable(plan, state, step.name) === 'now' && !mayHavePassed(step, state.steps[step.name]);
  return [
    { choice: 'give-output' },
    { choice: 'retry', ...again },
    ...(isTolerated(step) ? [{ choice: 'continue' } as const] : []),
    ...(isFree ? [{ choice: 'undo-all' } as const] : []),
    { choice: 'keep' },
  ];
}

/**
 * Offers another try if the latest left no effects, or a person says so. Choices for which a person would
 * have to check its effects are not offered.
 */
function choicesForChild(plan: Plan, state: Snapshot, step: ChildStep, record: Step, now: number): Offered[] {
  const isClean = record.children !== undefined && isCleanEnd(record.children);
  const after = effectOf(step, record).actsUntil;
  const careful = isClean ? {} : { needs: 'nothingHappened' as const, ...from(after, now) };
  const isFree = undoable(plan, state) === 'now';
  return [
    { choice: 'retry', ...careful },
    { choice: 'retry-with-input', ...careful },
    ...(mayFail(plan, step, record)
      ? [{ choice: 'continue' } as const]
      : isFree
        ? [{ choice: 'undo-all' } as const]
        : []),
    { choice: 'keep' },
  ];
}

/** A resolution, and the step that it is about. */
interface Resolving {
  readonly step: PlanStep | undefined;
  readonly record: Step;
  /** The variant that its agent attempted; absent for a child. */
  readonly variant: AgentStep | undefined;
  readonly incident: Incident;
  readonly answer: Resolution;
  /** True if a person says that nothing happened, for a choice that needs this. */
  readonly isCertain: boolean;
  /** The step's failure once the time for an answer is over. */
  readonly failure: Failure | undefined;
}

/** @param after makes the resolved step's record; undefined if the step stays as it is */
function resolveStep(
  after: (resolving: Resolving, inputs: DecisionInputs) => Step | undefined,
  ...[plan, state, incident, answer, inputs]: Parameters<IncidentKind['resolve']>
): ReturnType<IncidentKind['resolve']> {
  const { execution } = state;
  const { kind, step: name = '' } = incident;
  const record = state.steps[name] as Step;
  const isCertain =
    answer.nothingHappened === true &&
    recoveryChoices(plan, state, incident, inputs.now).some(
      ({ choice, needs }) => choice === answer.choice && needs === 'nothingHappened',
    );
  const step = graphOf(plan).step.get(name);
  const variant = step?.kind === 'agent' ? attemptedVariant(step, record) : undefined;
  const isOver = answer.closedBy === 'deadline' && kind === 'recovery' && ENDS.has(answer.choice);
  const failure = isOver ? unanswered(incident, answer.choice, variant, inputs.now) : undefined;
  const resolving = { step, record, variant, incident, answer, isCertain, failure };
  const written = after(resolving, inputs);
  const question = resolved(incident, answer, inputs);
  const what = answer.closedBy === 'deadline' ? 'incident-timed-out' : 'incident-resolved';
  const note = { what, step: name, detail: answer.choice };
  const cause = causeOf(execution, { ...incident, ...defined({ failure }) }, answer, inputs.now);
  if (cause !== undefined) {
    const stopped = stop(state, inputs, cause, question);
    return writing(execution.id, { ...stopped.write, step: written }, stopped.next, note);
  }
  const time = isUndoable(plan, state) ? {} : timeAgain(plan, execution, inputs.now);
  const goesOn = executionAfter(execution, 'adopt', inputs, time);
  return writing(execution.id, { execution: goesOn, step: written, question }, evaluateNext([name]), note);
}

/**
 * The cause if a resolution stops the execution at once. 'keep' always does. After 'undo-all' the step's
 * failure normally leads to the stop; but a paused execution decides nothing, so then the answer itself stops
 * the execution and ends the pause.
 */
function causeOf(
  execution: Execution,
  { kind, step, failure }: Incident,
  { choice, caller }: Resolution,
  at: number,
): Cause | undefined {
  const decides = kind === 'recovery' || (kind === 'undo' && isUndecided(execution.status));
  if (!decides || step === undefined) return undefined;
  const cause = { kind: 'failure', at, step, failure, ...defined({ by: caller }) } as const;
  if (choice === 'keep') return { ...cause, undo: false };
  return choice === 'undo-all' && execution.status === 'paused' ? cause : undefined;
}

const ENDS: ReadonlySet<Choice> = new Set(['undo-all', 'keep', 'continue']);

const RECOVERY_EVENT: Readonly<Record<Exclude<Choice, 'resume'>, StepEvent>> = {
  retry: 'choose-retry',
  'retry-with-input': 'choose-retry',
  'give-output': 'done',
  skip: 'skip',
  'undo-all': 'choose-end',
  continue: 'choose-end',
  keep: 'choose-end',
};

/** Answers that decide about a failure that could be tolerated. */
const AFTER_FAILURE: Readonly<Partial<Record<Choice, Step['afterFailure']>>> = {
  continue: 'continue',
  'undo-all': 'stop',
  keep: 'stop',
};

function recoveryAfter(
  { step, record, variant, incident, answer, isCertain, failure }: Resolving,
  inputs: DecisionInputs,
): Step | undefined {
  // This choice is offered for a pause only.
  if (answer.choice === 'resume') return undefined;
  const isAgain = answer.choice === 'retry' || answer.choice === 'retry-with-input';
  const isProbed = incident.wrongAnswer !== undefined && variant?.effect === 'probed';
  // An agent's step is tried again at once; a child step once its last try can no longer act.
  const actsUntil = variant === undefined && step ? effectOf(step, record).actsUntil : 0;
  const changes: StepChanges = {
    changedAt: inputs.now,
    ...(isCertain ? { mayHaveActed: false, wrongAnswer: undefined, ...vouchedFor(record) } : {}),
    ...(isAgain
      ? {
          retryAt: Math.max(inputs.now, actsUntil),
          ...(step?.withinMs === undefined ? {} : { againAt: inputs.now }),
          ...(isProbed ? { probes: 0 } : {}),
        }
      : {}),
    ...(answer.choice === 'retry-with-input' ? { givenInput: answer.input ?? null } : {}),
    ...(step !== undefined && isTolerated(step) ? { afterFailure: AFTER_FAILURE[answer.choice] } : {}),
    ...(answer.choice === 'give-output' ? { output: answer.output ?? null, failure: undefined } : {}),
    ...defined({ failure }),
  };
  // Finished work is not repeated: its service is asked for the result.
  const again = isAgain ? { status: isProbed ? ('unknown' as const) : ('retrying' as const) } : {};
  return stepAfter(record, RECOVERY_EVENT[answer.choice], inputs, { ...changes, ...again });
}

/**
 * The failure of a question without an answer in time. Its text says this, and what happens to finished work.
 */
function unanswered(
  { failure: { code, message }, wrongAnswer }: Incident,
  choice: Choice,
  variant: AgentStep | undefined,
  now: number,
): Failure {
  const left = choice === 'keep' || variant?.undo === 'none';
  const after = choice === 'continue' ? ', and the execution goes on without it' : '';
  const did = left ? 'what it did stands' : 'what it did is undone';
  const what = wrongAnswer === undefined || variant?.effect === 'none' ? 'the step failed' : did;
  const asked = `; ${UNANSWERED}${new Date(now).toISOString()}, so ${what}${after}`;
  return { code, message: `${cut(message, MAX_FAILURE_CHARS - asked.length)}${asked}` };
}

/** Leaves the step as `compensation-failed` if its effect stays and the execution ends. */
function undoAfter({ record, variant, answer }: Resolving, inputs: DecisionInputs): Step | undefined {
  if (answer.choice === 'retry') {
    // Waits for an earlier undo whose process may still act.
    const retryAt = Math.max(inputs.now, settlesAt(variant ?? { settleMs: 0 }, record));
    return stepAfter(record, 'choose-retry', inputs, {
      changedAt: inputs.now,
      retryAt,
      undoDeferredAt: undefined,
    });
  }
  if (answer.choice === 'continue')
    return stepAfter(record, 'tolerate', inputs, {
      changedAt: inputs.now,
      afterFailure: 'continue',
      failure: whyItFailed(record),
      undoDeferredAt: undefined,
      nextStage: undefined,
    });
  if (answer.choice !== 'skip') return undefined;
  return stepAfter(record, 'compensated', inputs, { changedAt: inputs.now, mayHaveActed: false });
}
