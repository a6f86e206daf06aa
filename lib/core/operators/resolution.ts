/**
 * Resolutions of incidents: a person's, or the default when the time is over.
 *
 * Owns: what each resolution writes, when the default applies, when an incident is moot. Does not own: the
 * choices (`choices.ts`), that its deadline stands still during a pause (`questions/life.ts`).
 *
 * A resolution is one transaction of all records concerned: of two operators one wins, the other reads why.
 * L1 every incident is resolved by its deadline at the latest. A resolution during a pause takes effect when
 * the pause ends; one that stops the execution ends the pause.
 */

import { isTolerated } from '../plan/outcomes.ts';
import { type AgentStep, agentStep, graphOf, type Plan } from '../plan/plan.ts';
import {
  entering,
  executionAfter,
  type DecisionInputs,
  stepAfter,
  type StepChanges,
  stop,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, nothing, writing } from '../decisions/decision.ts';
import type { EventOf, Resolution } from '../decisions/events.ts';
import { type Failure, MAX_FAILURE_CHARS, UNANSWERED } from '../values/failure.ts';
import { given } from '../values/given.ts';
import { type Choice, holdsNow, type Incident } from '../records/question.ts';
import type { StepEvent } from '../moves.ts';
import { incidentIn, openIncidents, type Snapshot } from '../records/snapshot.ts';
import {
  type Cause,
  type Execution,
  isPerforming,
  isSatisfied,
  isTerminal,
  isUndecided,
  type Step,
} from '../records/state.ts';
import { cut } from '../values/text.ts';
import { mayBePast, mayBeStopped, wayBackBeside } from '../step/point-of-no-return.ts';
import { attemptedVariant } from '../step/recovery.ts';
import { whyItFailed } from '../step/tolerance.ts';
import { effectOf } from '../step/effect.ts';
import { vouchedFor } from '../waiting/child-tries.ts';
import { choicesFor, resolutionProblem } from '../questions/choices.ts';
import { resolveDeadline, timeAgain } from '../questions/deadline.ts';
import { resolved } from '../questions/incident.ts';
import { changed } from '../questions/life.ts';
import { endPause } from '../holds/pause.ts';

/** An answer that is not possible now changes nothing; the caller asks `resolutionProblem` for the reason. */
export function answerIncident(plan: Plan, state: Snapshot, event: EventOf<'resolve'>): Decision {
  const incident = incidentIn(state, event.incident);
  if (incident === undefined || isTerminal(state.execution.status)) return nothing();
  if (resolutionProblem(plan, state, incident, event.answer, event.now) !== undefined) return nothing();
  return entering(resolve(plan, state, incident, event.answer, event), state.execution, event.acted);
}

/** The transaction of an answer. The caller has asked `resolutionProblem`. */
export function resolve(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  answer: Resolution,
  inputs: DecisionInputs,
): Decision {
  const { execution } = state;
  if (incident.kind === 'deadline') return resolveDeadline(plan, state, incident, answer, inputs);
  if (incident.step === undefined) return endPause(state, resolved(incident, answer, inputs), inputs);
  const record = state.steps[incident.step] as Step;
  const offered = choicesFor(plan, state, incident, inputs.now).find((one) => one.choice === answer.choice);
  // A person's word counts only if it is asked for.
  const certain = offered?.needs === 'nothingHappened' && answer.nothingHappened === true;
  const planned = graphOf(plan).step.get(incident.step);
  const tolerated = planned !== undefined && isTolerated(planned);
  const variant = planned?.kind === 'agent' ? attemptedVariant(planned, record) : undefined;
  const failure =
    answer.closedBy === 'deadline' && incident.kind === 'recovery' && ENDS.has(answer.choice)
      ? unanswered(incident, answer.choice, variant, inputs.now)
      : undefined;
  const isProbed = incident.wrongAnswer !== undefined && variant?.effect === 'probed';
  const step =
    incident.kind === 'undo'
      ? undoResolution(plan, record, answer, inputs)
      : recoveryResolution(
          record,
          answer,
          {
            certain,
            tolerated,
            isTimed: planned?.withinMs !== undefined,
            isProbed,
            // An agent's step is tried at once; another once nothing of its last try acts any more.
            triedFrom: variant === undefined && planned ? effectOf(planned, record).actsUntil : 0,
          },
          inputs,
          failure,
        );
  const cause = causeOf(execution, { ...incident, ...given({ failure }) }, answer, inputs.now);
  const question = resolved(incident, answer, inputs);
  const what = answer.closedBy === 'deadline' ? 'incident-timed-out' : 'incident-resolved';
  const note = { what, step: incident.step, detail: answer.choice };
  if (cause !== undefined) {
    const stopped = stop(state, inputs, cause, question);
    return writing(execution.id, { ...stopped.write, step }, stopped.next, note);
  }
  const time = mayBeStopped(plan, state) ? {} : timeAgain(plan, execution, inputs.now);
  const goesOn = executionAfter(execution, 'adopt', inputs, time);
  const records = { execution: goesOn, step, question };
  return writing(execution.id, records, evaluateNext([incident.step]), note);
}

/**
 * A resolution that stops the execution at once. Always if it is left as it is. If it is undone, the step's
 * failure is otherwise decided on like any other, but a paused execution decides nothing, and the answer must
 * end the pause.
 */
function causeOf(
  execution: Execution,
  { kind, step, failure }: Incident,
  { choice, caller }: Resolution,
  at: number,
): Cause | undefined {
  const goesOn = isUndecided(execution.status);
  const decides = kind === 'recovery' || (kind === 'undo' && goesOn);
  if (!decides || step === undefined) return undefined;
  const cause = { kind: 'failure', at, step, failure, ...given({ by: caller }) } as const;
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

/** The answers that decide about a failure that would be tolerated. */
const AFTER_FAILURE: Readonly<Partial<Record<Choice, Step['afterFailure']>>> = {
  continue: 'continue',
  'undo-all': 'stop',
  keep: 'stop',
};

function recoveryResolution(
  record: Step,
  answer: Resolution,
  {
    certain,
    tolerated,
    isTimed,
    isProbed,
    triedFrom,
  }: Record<'certain' | 'tolerated' | 'isTimed' | 'isProbed', boolean> & { readonly triedFrom: number },
  inputs: DecisionInputs,
  failure: Failure | undefined,
): Step | undefined {
  // Offered only for a pause.
  if (answer.choice === 'resume') return undefined;
  const isAgain = answer.choice === 'retry' || answer.choice === 'retry-with-input';
  const changes: StepChanges = {
    changedAt: inputs.now,
    ...(certain ? { mayHaveActed: false, wrongAnswer: undefined, ...vouchedFor(record) } : {}),
    ...(isAgain
      ? {
          retryAt: Math.max(inputs.now, triedFrom),
          ...(isTimed ? { againAt: inputs.now } : {}),
          ...(isProbed ? { probes: 0 } : {}),
        }
      : {}),
    ...(answer.choice === 'retry-with-input' ? { givenInput: answer.input ?? null } : {}),
    ...(tolerated ? { afterFailure: AFTER_FAILURE[answer.choice] } : {}),
    ...(answer.choice === 'give-output' ? { output: answer.output ?? null, failure: undefined } : {}),
    ...given({ failure }),
  };
  // Finished work is not repeated: its service is asked for the result.
  const again = isAgain ? { status: isProbed ? ('unknown' as const) : ('retrying' as const) } : {};
  return stepAfter(record, RECOVERY_EVENT[answer.choice], inputs, { ...changes, ...again });
}

/** A failure whose question got no answer in time says so, and what becomes of finished work. */
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

/**
 * Nothing is written to the step if its effect stays and the execution ends: it remains
 * `compensation-failed`.
 */
function undoResolution(
  plan: Plan,
  record: Step,
  answer: Resolution,
  inputs: DecisionInputs,
): Step | undefined {
  if (answer.choice === 'retry') {
    const planned = agentStep(plan, record.name);
    const settleMs = planned === undefined ? 0 : attemptedVariant(planned, record).settleMs;
    // Not beside an earlier undo whose process may still act.
    const retryAt = Math.max(inputs.now, record.processDeadlineAt + settleMs);
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

/** The incident of a step that a late success resolves. */
export function resolvedBySuccess(
  state: Snapshot,
  step: string,
  inputs: DecisionInputs,
): Incident | undefined {
  const asked = openIncidents(state).find(({ kind, step: about }) => kind === 'recovery' && about === step);
  return asked && resolved(asked, { closedBy: 'moot' }, inputs);
}

/** The effect of an evaluation on open incidents: one is moot, or its time is over. */
export function closeDueIncidents(plan: Plan, state: Snapshot, inputs: DecisionInputs): Decision | undefined {
  const { execution } = state;
  for (const incident of openIncidents(state)) {
    if (isMoot(plan, state, incident))
      return changed(state, { question: resolved(incident, { closedBy: 'moot' }, inputs) }, 'incident-moot');
    if (incident.deadlineAt > inputs.now || !holdsNow(execution, incident)) continue;
    return resolve(
      plan,
      state,
      incident,
      { choice: choiceOfTime(plan, state, incident), closedBy: 'deadline' },
      inputs,
    );
  }
  return undefined;
}

function isMoot(plan: Plan, state: Snapshot, { kind, step }: Incident): boolean {
  const { status } = state.execution;
  if (kind === 'pause') {
    return status !== 'paused' || plan.steps.every(({ name }) => isSatisfied(state.steps[name]));
  }
  if (kind === 'deadline')
    return status === 'compensating' || plan.steps.every(({ name }) => isSatisfied(state.steps[name]));
  const expects = kind === 'recovery' ? 'waiting' : 'compensation-failed';
  return state.steps[step ?? '']?.status !== expects || (kind === 'recovery' && status === 'compensating');
}

/** The default may have been chosen when there still was a way back. */
export function choiceOfTime(plan: Plan, state: Snapshot, incident: Incident): Choice {
  const { status } = state.execution;
  // It may have been stopped meanwhile.
  if (incident.otherwise === 'continue' && !isPerforming(status) && !isUndecided(status)) return 'keep';
  if (incident.otherwise !== 'undo-all') return incident.otherwise;
  const step = plan.steps.find(({ name }) => name === incident.step);
  if (step === undefined) return mayBeStopped(plan, state) ? 'undo-all' : 'keep';
  const isPast = wayBackBeside(plan, state, step) === 'closed' || mayBePast(step, state.steps[step.name]);
  return isPast ? 'keep' : 'undo-all';
}
