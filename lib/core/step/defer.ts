/**
 * Deferring: work is put off until a time, and no attempt is charged for it.
 *
 * Owns: the write of `retryAt` that defers it, who may take it nevertheless, the charge of an attempt that
 * failed because of a dead service, and when an undo was deferred too long. Does not own: whether the service
 * is dead (`breaker.ts`), the gaps between dispatches (`supervision/wake-time.ts`).
 *
 * S9 a dead service costs no attempt. S12 the write makes stale claims conflict: no process writes the step
 * before `retryAt` without bringing the wake time forward in the same transaction, so the wake time may be as
 * far away as that. L1 deferred work has a deadline: on the way forward the execution's own, for an undo a
 * day, after which a person is asked.
 */

import { blankStep, type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import { evaluateNext, type Note, writing } from '../decisions/decision.ts';
import { defined } from '../values/defined.ts';
import type { Failure } from '../values/failure.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Execution, LeasedStep, Mode, NotBefore, Step } from '../records/state.ts';
import { openWork, type Work } from './ready.ts';
import type { Rule } from './rule.ts';
import { timeEndsAt } from './within.ts';

/**
 * After this time an attempt that failed because of a dead service is charged nevertheless, and a person is
 * asked about a deferred undo, which has no other deadline.
 */
export const MAX_NOT_CHARGED_MS = 86_400_000;

/**
 * The properties of each reason. `isPassed`: a message that arrives although the work is deferred may be
 * taken, because it shows that the reason is gone. `isSpread`: deferred work comes back spread over time, so
 * that a service does not get all of it at once.
 */
const REASONS: Readonly<
  Record<NotBefore['why'], { readonly isPassed: boolean; readonly isSpread: boolean }>
> = {
  breaker: { isPassed: false, isSpread: true },
  paused: { isPassed: false, isSpread: true },
  rate: { isPassed: false, isSpread: false },
  unclaimed: { isPassed: true, isSpread: false },
  'not-deployed': { isPassed: true, isSpread: false },
};

/** The bounds of the time over which deferred work comes back: half of the service's absence. */
const MIN_SPREAD_MS = 5_000;
const MAX_SPREAD_MS = 300_000;

/** Returns when deferred work comes back: at `at`, or at a random time after that. */
export function backAt({ at, why, since = at }: NotBefore, { now, random }: DecisionInputs): number {
  if (!REASONS[why].isSpread) return at;
  const spreadMs = Math.min(Math.max((now - since) / 2, MIN_SPREAD_MS), MAX_SPREAD_MS);
  return Math.max(at, now) + 1 + Math.floor(spreadMs * random);
}

/**
 * The record of deferred work, and its note. A step without a record gets its first one, without an attempt.
 * @param isMet true if an agent has taken the message, so that earlier dispatches no longer count
 */
export function deferral(
  work: Work,
  state: Snapshot,
  notBefore: NotBefore,
  inputs: DecisionInputs,
  isMet = false,
): { readonly step: Step; readonly retryAt: number; readonly note: Note } {
  const { name, agent } = work.step;
  const before = state.steps[name] ?? {
    ...blankStep(name, state.execution),
    changedAt: work.sinceAt,
  };
  const at = backAt(notBefore, inputs);
  // The work also waits for its own time: a backoff, or the end of a lost undo.
  const retryAt = work.deferred === undefined ? Math.max(at, work.dueAt) : at;
  const step = stepAfter(before, 'defer', inputs, {
    epoch: state.execution.epoch,
    retryAt,
    deferred: deferredBy(
      work.mode,
      { ...notBefore, ...defined({ since: missedSince(work, notBefore, inputs.now) }) },
      inputs.now,
    ),
    ...(hasNoDeadline(work.mode, state.execution) ? deferredSince(before, inputs) : {}),
    ...(isMet ? { changedAt: inputs.now } : {}),
  });
  const ms = retryAt - inputs.now;
  const note = { what: 'deferred', step: name, attempt: work.attempt, agent, detail: notBefore.why, ms };
  return { step, retryAt, note };
}

const deferredBy = (mode: Mode, notBefore: NotBefore, now: number): NotBefore => ({
  ...notBefore,
  mode,
  at: now,
});

/**
 * Since when the reason of a deferral has lasted: since the first deferral for it, if there were several; for
 * unclaimed work, since it could be claimed.
 */
function missedSince({ deferred, dueAt }: Work, { why }: NotBefore, now: number): number | undefined {
  if (why !== 'not-deployed' && why !== 'unclaimed') return undefined;
  if (deferred?.why === why) return deferred.since ?? now;
  return why === 'unclaimed' ? Math.min(now, dueAt) : now;
}

/** True for undos and on-failure steps, which the execution's time does not limit. */
export const hasNoDeadline = (mode: Mode | undefined, { status }: Pick<Execution, 'status'>): boolean =>
  mode === 'undo' || status === 'following-up';

const deferredSince = (record: Step, inputs: DecisionInputs): Pick<StepChanges, 'undoDeferredAt'> => ({
  undoDeferredAt: record.undoDeferredAt ?? inputs.now,
});

/** True if a message for the deferred work may be taken if it comes nevertheless. */
export const isOpenToLateMessages = ({ deferred }: Work): boolean =>
  deferred !== undefined && REASONS[deferred.why].isPassed;

/**
 * The changes of an attempt that is not charged, because it failed through no fault of its own. If its
 * process was ended because of another attempt, it begins again at once; if its service is dead, it waits
 * like all others.
 * @param inputs `unbounded`: no deadline of the execution ends it
 */
export function notCharged(
  record: LeasedStep,
  inputs: DecisionInputs & {
    readonly notBefore?: NotBefore;
    readonly interrupted?: boolean;
    readonly unbounded?: boolean;
  },
): (StepChanges & { readonly retryAt: number }) | undefined {
  const { now, notBefore, unbounded = record.mode === 'undo' } = inputs;
  if (inputs.interrupted === true) return { ...givenBack(record), retryAt: now };
  if (notBefore === undefined || now - (notBefore.since ?? now) > MAX_NOT_CHARGED_MS) return undefined;
  return {
    ...givenBack(record),
    ...(unbounded ? deferredSince(record, inputs) : {}),
    retryAt: backAt(notBefore, inputs),
    deferred: deferredBy(record.mode, notBefore, now),
  };
}

const givenBack = ({
  mode,
  stageAttempt,
  undoAttempt,
}: LeasedStep): Pick<StepChanges, 'stageAttempt' | 'undoAttempt'> =>
  mode === 'execute'
    ? { stageAttempt: stageAttempt - 1 }
    : mode === 'undo'
      ? { undoAttempt: undoAttempt - 1 }
      : {};

/** The time at which a person is asked about an undo, or an on-failure step, if it is still deferred. */
export const overdueAt = (
  { deferred, undoDeferredAt }: Step,
  execution: Pick<Execution, 'status' | 'pauses' | 'earlierPauses'>,
): number =>
  deferred !== undefined && undoDeferredAt !== undefined && hasNoDeadline(deferred.mode, execution)
    ? timeEndsAt(execution, undoDeferredAt, MAX_NOT_CHARGED_MS)
    : Number.POSITIVE_INFINITY;

const UNDO_OVERDUE: Failure = {
  code: 'undo-overdue',
  message:
    'no agent could undo it for a day: its service does not answer, no process takes its messages, or its agent is not deployed',
};

const ON_FAILURE_OVERDUE: Failure = {
  code: 'on-failure-overdue',
  message:
    'no agent could perform it for a day: its service does not answer, no process takes its messages, or its agent is not deployed',
};

/** L1 ends deferred work that no agent may begin and no deadline ends; another rule opens the incident. */
export const giveUpDeferred: Rule = {
  apply: (plan, state, event) => {
    const isOverdue = (record: Step | undefined): record is Step =>
      record !== undefined && overdueAt(record, state.execution) <= event.now;
    if (!Object.values(state.steps).some(isOverdue)) return undefined;
    const piece = openWork(plan, state).find(
      ({ step, mode }) => hasNoDeadline(mode, state.execution) && isOverdue(state.steps[step.name]),
    );
    const record = piece && state.steps[piece.step.name];
    if (record === undefined) return undefined;
    const isUndo = piece?.mode === 'undo';
    const step = stepAfter(record, isUndo ? 'fail-undo' : 'overdue', event, {
      ...(isUndo ? { status: 'compensation-failed' as const } : {}),
      changedAt: event.now,
      failure: isUndo ? UNDO_OVERDUE : ON_FAILURE_OVERDUE,
      retryAt: undefined,
      undoDeferredAt: undefined,
    });
    const note = { what: isUndo ? 'undo-given-up' : 'step-overdue', step: record.name };
    return writing(state.execution.id, { step }, evaluateNext(), note);
  },
  dueAt: (_plan, { execution, steps }, { work }) =>
    work.flatMap(({ step: { name } }) => {
      const record = steps[name];
      const at = record === undefined ? Number.POSITIVE_INFINITY : overdueAt(record, execution);
      if (!Number.isFinite(at)) return [];
      return [
        {
          at,
          step: name,
          coming: () => ({ what: 'a person is asked, because it was deferred for a day', who: 'person' }),
        },
      ];
    }),
  says: {
    'undo-given-up': 'a person is asked, because no agent could undo a step for a day',
    'step-overdue': 'a person is asked, because no agent could perform an on-failure step for a day',
  },
};
