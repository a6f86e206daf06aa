/**
 * INCIDENTS[kind]: a person's choices, the write of each choice, when the incident is moot.
 *
 * Owns: the table; whether an answer is possible, the default once the time is over, and closing a moot
 * incident. Does not own: the rows (`step-incidents.ts`, `questions/incident.ts`, `holds/pause.ts`), stopping
 * a deadline during a pause (`questions/life.ts`), who may answer (IAM), the transport (`api/`).
 *
 * A resolution is one transaction of all records concerned: of two operators one wins, and the other reads
 * why. L1 every incident is resolved by its deadline at the latest. A resolution during a pause takes effect
 * when the pause ends; one that stops the execution ends the pause.
 */

import { planInStatus } from '../plan/on-failure.ts';
import type { Plan } from '../plan/plan.ts';
import { type DecisionInputs, entering } from '../decisions/change.ts';
import { type Decision, nothing } from '../decisions/decision.ts';
import type { EventOf, Resolution } from '../decisions/events.ts';
import { defined } from '../values/defined.ts';
import { timeText } from '../values/text.ts';
import { type Choice, holdsNow, type Incident } from '../records/question.ts';
import type { Deed } from '../records/people.ts';
import { incidentIn, openIncidents, type Snapshot } from '../records/snapshot.ts';
import { isPerforming, isTerminal, isUndecided } from '../records/state.ts';
import {
  lastPoint,
  mayHavePassed,
  isUndoable,
  undoable,
  undoableBeside,
} from '../step/point-of-no-return.ts';
import type { Rule } from '../step/rule.ts';
import { DEADLINE, type IncidentKind, type Offered, resolved } from '../questions/incident.ts';
import { changed } from '../questions/life.ts';
import { PAUSE } from '../holds/pause.ts';
import { RECOVERY, UNDO } from './step-incidents.ts';

const INCIDENTS: Readonly<Record<Incident['kind'], IncidentKind>> = {
  recovery: RECOVERY,
  undo: UNDO,
  pause: PAUSE,
  deadline: DEADLINE,
};

/**
 * The choices that are safe now, and those that are not safe yet or need a person's word, with the reason.
 */
export const choicesFor = (plan: Plan, state: Snapshot, incident: Incident, now: number): Offered[] =>
  incident.closedAt === undefined
    ? INCIDENTS[incident.kind].choices(planInStatus(plan, state.execution), state, incident, now)
    : [];

/**
 * Explains that the execution is stopped first. A child reports its effects only then, so the answer does not
 * promise that everything before it is undone.
 */
function stopFirst(plan: Plan, state: Snapshot, { choice }: Resolution): string {
  if (choice !== 'undo-all' || undoable(plan, state) !== 'after-stop') return '';
  const name = lastPoint(plan, state)?.name ?? '';
  return `, because step '${name}' is a point of no return, and its execution has not ended: a cancel stops that first, then undoes everything if it left nothing behind`;
}

/** For an input or an output: the only choice that takes it, and that needs it. */
const TAKERS = { input: 'retry-with-input', output: 'give-output' } as const;

/**
 * Why an answer is not possible; undefined if it is.
 * @param asOf when it was given: a person cannot have checked what could still happen after that
 */
export function resolutionProblem(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  answer: Resolution,
  asOf: number,
): string | undefined {
  const offered = choicesFor(plan, state, incident, asOf);
  const match = offered.find((one) => one.choice === answer.choice);
  if (match === undefined) {
    const possible =
      offered.map((one) => one.choice).join(', ') || 'none, because the execution has gone another way';
    return `'${answer.choice}' is not possible here${stopFirst(plan, state, answer)}; possible are: ${possible}`;
  }
  if (match.needs === 'nothingHappened' && answer.nothingHappened !== true) {
    return `an attempt may have acted: '${answer.choice}' needs "nothingHappened": true from a person who has checked`;
  }
  if (match.notBefore !== undefined && match.notBefore > asOf) {
    return `an attempt may still act: '${answer.choice}' is possible from ${timeText(match.notBefore)}: check again then`;
  }
  for (const [field, taker] of Object.entries(TAKERS) as [keyof typeof TAKERS, Choice][]) {
    const isGiven = answer[field] !== undefined;
    if (isGiven && answer.choice !== taker) return `'${answer.choice}' takes no ${field}`;
    if (!isGiven && answer.choice === taker) return `'${taker}' needs an ${field}`;
  }
  return undefined;
}

const DEEDS: Readonly<Partial<Record<Choice, Deed>>> = {
  retry: 'retried',
  'retry-with-input': 'gave-input',
  'give-output': 'gave-output',
  skip: 'skipped',
  continue: 'continued',
  resume: 'continued',
};

/**
 * Returns the act that a resolution counts as, if it lets the execution go on; undefined if it ends the
 * execution.
 */
export const deedOf = (choice: Choice): Deed | undefined => DEEDS[choice];

/** Answers an incident. An impossible answer changes nothing; `resolutionProblem` gives the reason. */
export function answerIncident(plan: Plan, state: Snapshot, event: EventOf<'resolve'>): Decision {
  const incident = incidentIn(state, event.incident);
  if (incident === undefined || isTerminal(state.execution.status)) return nothing();
  if (resolutionProblem(plan, state, incident, event.answer, event.now) !== undefined) return nothing();
  return entering(resolve(plan, state, incident, event.answer, event), state.execution, event.acted);
}

/** The transaction of an answer that `resolutionProblem` has found possible. */
export const resolve: IncidentKind['resolve'] = (plan, state, incident, answer, inputs) =>
  INCIDENTS[incident.kind].resolve(plan, state, incident, answer, inputs);

/** The incident of a step that a late success resolves. */
export function resolvedBySuccess(
  state: Snapshot,
  step: string,
  inputs: DecisionInputs,
): Incident | undefined {
  const asked = openIncidents(state).find(({ kind, step: about }) => kind === 'recovery' && about === step);
  return asked && resolved(asked, { closedBy: 'moot' }, inputs);
}

/** Closes an open incident that is moot, or whose time is over. */
export const closeIncidents: Rule = {
  apply: closeDueIncidents,
  dueAt: (plan, state) =>
    openIncidents(state)
      .filter((incident) => holdsNow(state.execution, incident))
      .map((incident) => ({
        at: incident.deadlineAt,
        ...(isAboutStep(incident) ? defined({ step: incident.step }) : {}),
        coming: () => ({ what: answerText(plan, state, incident), who: 'person' }),
      })),
  says: {
    'incident-timed-out': 'the time for an answer is over',
    'incident-moot': 'an open question is closed, because the execution went another way',
    compensating: 'the time for an answer is over: what has acted is undone',
    resumed: 'the time for an answer is over: the pause ends',
    'incident-resolved': 'the time for an answer is over',
  },
};

export function closeDueIncidents(plan: Plan, state: Snapshot, inputs: DecisionInputs): Decision | undefined {
  for (const incident of openIncidents(state)) {
    if (INCIDENTS[incident.kind].isMoot(plan, state, incident))
      return changed(state, { question: resolved(incident, { closedBy: 'moot' }, inputs) }, 'incident-moot');
    if (incident.deadlineAt > inputs.now || !holdsNow(state.execution, incident)) continue;
    const choice = choiceOfTime(plan, state, incident);
    return resolve(plan, state, incident, { choice, closedBy: 'deadline' }, inputs);
  }
  return undefined;
}

const isAboutStep = ({ kind }: Incident): boolean => kind === 'recovery' || kind === 'undo';

const answerText = (plan: Plan, state: Snapshot, incident: Incident): string =>
  `a person answers incident ${incident.number}; without an answer '${choiceOfTime(plan, state, incident)}' is chosen`;

/**
 * Returns the default choice, adapted to the present state: it may date from a time when a way back still
 * existed.
 */
function choiceOfTime(plan: Plan, state: Snapshot, incident: Incident): Choice {
  const { status } = state.execution;
  // The execution may have been stopped meanwhile.
  if (incident.otherwise === 'continue' && !isPerforming(status) && !isUndecided(status)) return 'keep';
  if (incident.otherwise !== 'undo-all') return incident.otherwise;
  const step = plan.steps.find(({ name }) => name === incident.step);
  if (step === undefined) return isUndoable(plan, state) ? 'undo-all' : 'keep';
  const isPast = undoableBeside(plan, state, step) === 'never' || mayHavePassed(step, state.steps[step.name]);
  return isPast ? 'keep' : 'undo-all';
}
