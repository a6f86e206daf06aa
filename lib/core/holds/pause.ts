/**
 * Pauses: nothing new starts, attempts go on to their end, and a person is asked if no operator ends the
 * pause in time.
 *
 * Owns: the incident of a pause, what ends a pause, and whether an attempt is still under way. Does not own:
 * the time after which nothing begins (`records/pauses.ts`), when it may be commanded (`operators/obey.ts`),
 * how a process that claimed before a pause is kept from beginning late (`agent/claim-pass.ts`).
 *
 * F1 no attempt begins later than `holdsFrom`. A process that read the execution before a pause may still
 * start child executions; the next start finds them. S12 the wake time of a paused execution is near until
 * then, and while an attempt is under way; after that it is the pause's deadline. L1 a pause ends by its
 * incident's deadline at the latest, and its duration is given back to the execution and its open incidents.
 * A pause concerns one execution: those that it has started go on.
 */

import type { Plan } from '../plan/plan.ts';
import type { Caller } from '../values/caller.ts';
import {
  endedPause,
  executionAfter,
  type ExecutionChanges,
  type DecisionInputs,
  stop,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, IDLE, writing } from '../decisions/decision.ts';
import { defined } from '../values/defined.ts';
import type { Incident } from '../records/question.ts';
import { askedAboutPause, type Snapshot } from '../records/snapshot.ts';
import { holdsFrom, type Pause, pauseDeadlineAt } from '../records/pauses.ts';
import { type Cause, type Execution, isLeased, isSatisfied, pauseOf, type Step } from '../records/state.ts';
import { leaseEndsAt } from '../step/lease.ts';
import { isUndoable, undoable } from '../step/point-of-no-return.ts';
import { CLOCKS_DIFFER_MS } from '../step/process-deadline.ts';
import { type IncidentKind, opening, resolved } from '../questions/incident.ts';
import { timeText } from '../values/text.ts';
import type { Rule } from '../step/rule.ts';

/** The longest pause if neither the command nor the plan says how long it may last. */
export const DEFAULT_PAUSE_MS: number = 7 * 86_400_000;
/** How long a person has to answer: long enough for a weekend; then the default applies. */
const PAUSE_INCIDENT_MS = 3 * 86_400_000;
/** The most pauses and retries that are kept, for people who ask why. */
export const MAX_PAST = 10;

/** The next pause of an execution. @param asked the command's options */
export const nextPause = (
  plan: Plan,
  { pauses }: Execution,
  asked: Pick<Pause, 'reason' | 'by'> & { readonly withinMs?: number },
  now: number,
): Pause => ({
  number: (pauses?.at(-1)?.number ?? 0) + 1,
  at: now,
  ...defined({ by: asked.by }),
  reason: asked.reason,
  withinMs: asked.withinMs ?? plan.pauseWithinMs ?? DEFAULT_PAUSE_MS,
});

/**
 * Adds a pause. If there are more than are kept, the oldest are merged into one sum, because their time does
 * not count towards time limits either.
 */
export function withPause(
  { pauses = [], earlierPauses }: Execution,
  next: Pause,
): Pick<Execution, 'pauses' | 'earlierPauses'> {
  const all = [...pauses, next];
  const { number, at, endedAt = at } = all[0] as Pause;
  if (all.length <= MAX_PAST) return { pauses: all };
  return {
    pauses: all.slice(1),
    earlierPauses: {
      number,
      at: earlierPauses?.at ?? at,
      endedAt,
      ms: (earlierPauses?.ms ?? 0) + endedAt - at,
    },
  };
}

/** Asks a person once a pause has lasted its time. */
export const askAboutPause: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const pause = pauseOf(execution);
    if (pause === undefined || pauseDeadlineAt(pause) > event.now) return undefined;
    if (askedAboutPause(state, pause) !== undefined) return undefined;
    const asked = {
      kind: 'pause' as const,
      stepVersion: pause.number,
      failure: { code: 'paused', message: `it has been paused since ${timeText(pause.at)}: ${pause.reason}` },
      deadlineAt: event.now + PAUSE_INCIDENT_MS,
      otherwise: isUndoable(plan, state) ? ('undo-all' as const) : ('keep' as const),
    };
    return opening(state, asked, event);
  },
  dueAt: (_plan, state) => {
    const pause = pauseOf(state.execution);
    if (pause === undefined || askedAboutPause(state, pause) !== undefined) return [];
    const what = 'a person is asked, unless the pause is ended before';
    return [{ at: pauseDeadlineAt(pause), coming: () => ({ what, who: 'person' }) }];
  },
  says: { 'incident-opened': 'a person is asked' },
};

/** True if an attempt is under way, or was lost and its process may not be dead. */
const isUnderWay = (step: Step, now: number): boolean =>
  isLeased(step) || (step.status === 'unknown' && step.processDeadlineAt > now);

/** How many attempts of a paused execution are under way; undefined if none is, but one may still begin. */
export function underWay({ execution, steps }: Snapshot, now: number): number | undefined {
  const pause = pauseOf(execution);
  const count = Object.values(steps).filter((step) => isUnderWay(step, now)).length;
  return pause === undefined || (count === 0 && now < holdsFrom(pause)) ? undefined : count;
}

/**
 * S12 If a process claimed so late that the wake time was already far off, brings the wake time forward to
 * the end of the lease. F3 The execution is written even if the wake time is near: a supervisor that read
 * before the claim may be about to set a far one, and then one of the two writes conflicts. This rule is the
 * last and ends the evaluation, because it would apply again.
 */
export const waitForLate: Rule = {
  apply: (_plan, state, event) => {
    const { execution } = state;
    const pause = pauseOf(execution);
    const ends = Object.values(state.steps)
      .filter(isLeased)
      .map(({ leaseUntil }) => leaseEndsAt(leaseUntil));
    if (event.by === 'supervisor' || pause === undefined || ends.length === 0) return undefined;
    if (event.now + CLOCKS_DIFFER_MS < holdsFrom(pause)) return undefined;
    const wakeAt = Math.min(execution.wakeAt ?? Number.POSITIVE_INFINITY, ...ends);
    const woken = executionAfter(execution, 'set-wake-time', event, { wakeAt });
    return writing(execution.id, { execution: woken }, IDLE);
  },
  says: { 'set-wake-time': 'the wake time is brought forward, for an attempt began late in the pause' },
};

/** Ends a pause by resuming, and resolves its incident if that is open. */
export function goOn(
  state: Snapshot,
  inputs: DecisionInputs,
  {
    incident,
    changes,
    by,
  }: {
    readonly incident?: Incident | undefined;
    readonly changes?: ExecutionChanges;
    readonly by?: Caller | undefined;
  } = {},
): Decision {
  const { execution } = state;
  const pause = pauseOf(execution);
  const goesOn = executionAfter(execution, 'resume', inputs, {
    ...changes,
    ...endedPause(execution, inputs.now, by),
    deadlineAt: execution.deadlineAt + Math.max(0, inputs.now - (pause?.at ?? inputs.now)),
  });
  return writing(execution.id, { execution: goesOn, question: incident }, evaluateNext('all'), {
    what: 'resumed',
  });
}

/** The incident of a pause that no operator has ended in time. */
export const PAUSE: IncidentKind = {
  choices: (plan, state) => {
    if (state.execution.status !== 'paused') return [];
    const back = undoable(plan, state) === 'now' ? [{ choice: 'undo-all' as const }] : [];
    return [{ choice: 'resume' }, ...back, { choice: 'keep' }];
  },
  isMoot: (plan, { execution, steps }) =>
    execution.status !== 'paused' || plan.steps.every(({ name }) => isSatisfied(steps[name])),
  resolve: (_plan, state, incident, answer, inputs) => {
    const { choice, closedBy, caller } = answer;
    const closed = resolved(incident, answer, inputs);
    if (choice === 'resume') return goOn(state, inputs, { incident: closed, by: caller });
    const cause: Cause = {
      kind: choice === 'keep' ? 'failure' : closedBy === 'answer' ? 'cancel' : 'deadline',
      at: inputs.now,
      failure: incident.failure,
      ...(choice === 'keep' ? { undo: false as const } : {}),
      ...defined({ by: caller }),
    };
    return stop(state, inputs, cause, closed);
  },
};
