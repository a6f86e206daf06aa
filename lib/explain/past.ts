/**
 * What happened to an execution, in words, oldest first: attempts, incidents, pauses, retries, and why it was
 * stopped.
 *
 * Owns: the words of the past. Does not own: reasons and what is next (`why.ts`).
 */

import { performedStep, shownSteps } from '../core/plan/on-failure.ts';
import type { Plan } from '../core/plan/plan.ts';
import { type Caller, callerText } from '../core/values/caller.ts';
import { isAnsweredWrongly } from '../core/values/failure.ts';
import { defined } from '../core/values/defined.ts';
import type { Incident } from '../core/records/question.ts';
import { incidentsIn, type Snapshot } from '../core/records/snapshot.ts';
import { type Pause, pauseDeadlineAt } from '../core/records/pauses.ts';
import type { Attempt, Cause, Retried, Step } from '../core/records/state.ts';
import { FIRST_KEPT, leftOutOf } from '../core/step/history.ts';
import { variantAt } from '../core/step/recovery.ts';
import { pastOfWaiting, reminded } from './waiting-for.ts';
import { type Happened } from './words.ts';
import { durationText, timeText } from '../core/values/text.ts';

export function past(plan: Plan, state: Snapshot): Happened[] {
  const { execution, steps } = state;
  const happened: Happened[] = [
    {
      at: execution.startedAt,
      what: `workflow '${execution.workflow}' was started${byText(execution.startedBy)}`,
      evidence: {
        plan: execution.plan,
        deadlineAt: execution.deadlineAt,
        ...defined({ by: execution.startedBy }),
      },
    },
  ];
  for (const { name } of shownSteps(plan, state)) {
    const record = steps[name];
    for (const attempt of record?.attempts ?? []) happened.push(happenedAttempt(plan, name, attempt));
    if (record !== undefined) happened.push(...leftOutText(record));
  }
  happened.push(...pastOfWaiting(plan, state));
  for (const incident of incidentsIn(state)) happened.push(...happenedIncident(incident));
  happened.push(
    ...(execution.pauses ?? []).flatMap((pause) => happenedPause(execution.workflow, pause)),
    ...(execution.retries ?? []).map(happenedRetry),
  );
  const { cause } = execution;
  if (cause !== undefined) {
    const whose = cause.step === undefined ? '' : ` of step '${cause.step}'`;
    const reason = {
      failure: 'the failure',
      cancel: "an operator's cancel",
      deadline: 'the deadline',
      parent: 'the end of the execution that it is a part of',
    }[cause.kind];
    happened.push({
      at: cause.at,
      what: `${cause.undo === false ? 'it is ended as it is' : 'it is being undone'} because of ${reason}${whose}${byText(cause.by)}${saidOf(cause)}`,
      evidence: { ...cause.failure, ...defined({ by: cause.by }) },
    });
  }
  if (execution.end !== undefined) {
    const { at, status } = execution.end;
    happened.push({
      at,
      what: `nothing is left to undo: it will end as ${status}, and its on-failure steps begin`,
      evidence: { status },
    });
  }
  if (execution.endedAt !== undefined) {
    happened.push({
      at: execution.endedAt,
      what: `it ended: ${execution.status}`,
      evidence: { status: execution.status },
    });
  }
  return happened.sort((a, b) => a.at - b.at);
}

/** What the operator said; the attempts and questions above say why of any other cause. */
const saidOf = ({ kind, failure }: Cause): string => (kind === 'cancel' ? `: ${failure.message}` : '');

/** Says how many attempts are missing after the first ones. */
function leftOutText(record: Step): Happened[] {
  const { attempts, name } = record;
  const leftOut = leftOutOf(record);
  const last = attempts[Math.min(FIRST_KEPT, attempts.length) - 1];
  if (leftOut === undefined || last === undefined) return [];
  const { count } = leftOut;
  const at = last.endedAt;
  const what = `${count} ${count === 1 ? 'attempt is' : 'attempts are'} left out here: the first ones and the latest are kept`;
  return [{ at, what, step: name, evidence: { ...leftOut } }];
}

const byText = (by: Caller | undefined): string => (by === undefined ? '' : ` by ${callerText(by)}`);
export const personText = (by: Caller | undefined): string =>
  by === undefined ? 'a person' : callerText(by);

function happenedPause(workflow: string, pause: Pause): Happened[] {
  const { number, at, by, reason, workflowPausedAt, endedAt, endedBy } = pause;
  const told = (when: number | undefined, what: string, who?: Caller): Happened[] =>
    when === undefined ? [] : [{ at: when, what, evidence: { pause: number, ...defined({ by: who }) } }];
  const until = `; a person is asked at ${timeText(pauseDeadlineAt(pause))}`;
  const begun =
    workflowPausedAt === undefined
      ? told(at, `${personText(by)} paused it: ${reason}${endedAt === undefined ? until : ''}`, by)
      : told(
          at,
          `it started paused, because ${personText(by)} had paused workflow '${workflow}' at ${timeText(workflowPausedAt)}: ${reason}${until}`,
          by,
        );
  return [
    ...begun,
    ...told(endedAt, `the pause ${endedBy === undefined ? 'ended' : `was ended${byText(endedBy)}`}`, endedBy),
  ];
}

const happenedRetry = ({ at, by, reason, cause }: Retried): Happened => {
  const failed =
    cause === undefined
      ? ''
      : `; it had failed because of ${cause.step === undefined ? '' : `step '${cause.step}': `}${cause.failure.message}`;
  return {
    at,
    what: `${personText(by)} retried it: ${reason}${failed}`,
    evidence: { ...cause?.failure, ...defined({ by }) },
  };
};

export const DEED: Readonly<Record<Attempt['mode'], string>> = {
  execute: 'attempt',
  probe: 'probe of attempt',
  undo: 'undo',
};
const RESULT: Readonly<Record<Attempt['outcome'], string>> = {
  done: 'done',
  failed: 'failed',
  unknown: 'ended with an unknown outcome',
  'not-done': 'found that it was not done',
  accepted: 'was accepted: the service does the work',
  'still-running': 'found it under way',
  'cannot-tell': 'could not tell',
  compensated: 'undid it',
};

function happenedAttempt(plan: Plan, step: string, attempt: Attempt): Happened {
  const { mode, number, outcome, failure } = attempt;
  const result =
    mode === 'probe' && outcome === 'done'
      ? 'found it done'
      : failure !== undefined && isAnsweredWrongly(failure)
        ? 'answered'
        : RESULT[outcome];
  const took = durationText(attempt.endedAt - attempt.claimedAt);
  const reason = failure === undefined ? '' : `: ${failure.message}`;
  // Each try of a child step is an execution, not an attempt.
  const deed = performedStep(plan, step) === undefined ? 'try' : DEED[mode];
  const message = attempt.message === undefined ? '' : `, with message ${attempt.message}`;
  return {
    at: attempt.endedAt,
    what: `${deed} ${number}${variantWords(plan, step, attempt)}${message}, ${took}: ${result}${reason}`,
    step,
    evidence: { ...attempt },
  };
}

/**
 * Names the variant of the recovery, if not the first, and says if the input was not the plan's, without
 * giving the input.
 */
function variantWords(plan: Plan, name: string, { variant = 0, given: isGiven }: Attempt): string {
  if (variant === 0 && isGiven !== true) return '';
  const step = performedStep(plan, name);
  if (step === undefined)
    return isGiven === true ? ' (with an input that a person gave)' : ' (with other input)';
  const { agent, input } = variantAt(step, variant);
  const words = [
    ...(variant === 0 ? [] : [`variant ${variant + 1}`]),
    ...(agent === step.agent ? [] : [`by agent '${agent}'`]),
    ...(isGiven === true
      ? ['with an input that a person gave']
      : input === step.input
        ? []
        : ['with other input']),
  ];
  return ` (${words.join(', ')})`;
}

const CLOSED_BY = {
  deadline: 'nobody answered in time, so it was',
  moot: 'it needed no answer any more',
};

function happenedIncident(incident: Incident): Happened[] {
  const { number, openedAt, closedAt, choice, closedBy, caller, reason } = incident;
  const about = defined({ step: incident.step });
  const opened = {
    at: openedAt,
    what: `incident ${number}: a person was asked`,
    ...about,
    evidence: { ...incident.failure },
  };
  const asked = [opened, ...reminded(incident, about)];
  if (closedAt === undefined || closedBy === undefined) return asked;
  const who = closedBy === 'answer' ? `${personText(caller)} chose` : CLOSED_BY[closedBy];
  const what = `incident ${number}: ${who}${choice === undefined ? '' : ` '${choice}'`}${reason === undefined ? '' : ` (${reason})`}`;
  return [...asked, { at: closedAt, what, ...about, evidence: defined({ closedBy, caller, choice }) }];
}
