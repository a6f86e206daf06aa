/**
 * The end of an attempt: its report, its late success, or a lease that was not renewed.
 *
 * Owns: what each of these writes to the step, in the modes execute, probe and undo. Does not own: claims and
 * heartbeats (`claim.ts`), what all of them write (`ending.ts`), what follows in the execution (`rules.ts`).
 *
 * S5 a report commits only with the current token, or as a late success: same token, no claim since but to
 * probe. S6 `done` only by a report of done or a probe that found it. S10 an unknown outcome is remembered
 * (`mayHaveActed`) until it is undone or a believed `notDone`.
 */

import { MAX_DURATION_MS } from '../values/duration.ts';
import type { AgentStep } from '../plan/plan.ts';
import { type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import type { Report } from '../decisions/events.ts';
import type { Failure } from '../values/failure.ts';
import { type Attempt, type LeasedStep, isLeased, type Step } from '../records/state.ts';
import { isThrown } from './breaker.ts';
import { ended, type Ending, endingOf, type Reported } from './ending.ts';
import { adoptsLateSuccess, endedByStall } from './lease.ts';
import { lowered } from './process-deadline.ts';
import { effectsSettledAt } from './ready.ts';
import {
  changesBetween,
  isRepeatable,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextUndoAt,
  nextWithoutVerdict,
} from './recovery.ts';
import { FAILED_FOR_TIME } from './within.ts';

/** The record after a report, or nothing when the report is refused (S5). */
export function reported(
  step: AgentStep,
  record: Step | undefined,
  event: Reported & DecisionInputs,
): Step | undefined {
  const { token, report } = event;
  if (record === undefined) return undefined;
  const isAskedAbout = record.token !== token && record.actedToken === token;
  if (isAskedAbout) return lateSuccess(record, report, event);
  if (record.token !== token) return undefined;
  if (!isLeased(record)) return record.mode === 'execute' ? lateSuccess(record, report, event) : undefined;
  // An attempt whose function has returned can begin nothing more, even if its process lives on.
  const codeReturned = report.codeReturned && record.mode !== 'probe';
  const deadlines = codeReturned ? lowered(record, token, event.now) : undefined;
  const ending = endingOf(
    step,
    { ...record, ...deadlines },
    event,
    event.openBreaker,
    event.unbounded,
    event.overAt,
  );
  switch (record.status) {
    case 'running':
      return reportedExecute(ending, report);
    case 'probing':
      return reportedProbe(ending, report);
    case 'compensating':
      return reportedUndo(ending, report);
    default:
      return undefined;
  }
}

/** The work finished after its lease had ended. */
function lateSuccess(
  record: Step,
  report: Report,
  inputs: DecisionInputs & Pick<Reported, 'mayFail'>,
): Step | undefined {
  const isAsked = record.status === 'probing';
  const isAdopted = isAsked || adoptsLateSuccess(record, inputs.mayFail === true);
  if (report.kind !== 'done' || !isAdopted) return undefined;
  return stepAfter(record, isAsked ? 'find-done' : 'done', inputs, {
    ...(isAsked ? { leaseUntil: undefined } : {}),
    output: report.output,
    retryAt: undefined,
    failure: undefined,
    afterFailure: undefined,
    nextStage: undefined,
    // There is no next try that would use it.
    givenInput: undefined,
    changedAt: inputs.now,
  });
}

function reportedExecute(ending: Ending, report: Report): Step | undefined {
  const { variant, record, inputs, free } = ending;
  if (report.kind === 'done') {
    const { output } = report;
    return stepAfter(record, 'done', inputs, { ...ended(ending, 'done'), output, failure: undefined });
  }
  if (report.kind === 'unknown') return lost(ending, report.failure);
  if (report.kind === 'wrong-answer') return answeredWrongly(ending, report, 'failed');
  if (report.kind !== 'failed') return undefined;
  const changes = { ...ended(ending, 'failed', report.failure), mayHaveActed: record.mayHaveActed };
  const wishMs = Math.min(report.retryAfterMs ?? 0, MAX_DURATION_MS);
  // The service asks for a longer pause than there is time: the next stage may begin at once.
  const isTooLate = ending.overAt !== undefined && wishMs > 0 && inputs.now + wishMs >= ending.overAt;
  if (free !== undefined && !report.permanent && !isTooLate && variant.effect !== 'unsafe') {
    const retryAt = Math.max(free.retryAt, inputs.now + wishMs);
    return stepAfter(record, 'retry', inputs, { ...changes, ...free, retryAt });
  }
  return afterFailure(ending, changes, { ...report, isTooLate });
}

/**
 * The work is done, but its answer is no valid output: the agent's code is wrong, not the work. So a person
 * is asked before another stage repeats or undoes it. An on-failure step is never undone: nobody is asked.
 */
function answeredWrongly(
  ending: Ending,
  { failure, answer }: Report & { readonly kind: 'wrong-answer' },
  outcome: Attempt['outcome'],
): Step {
  const { record, inputs, isOnFailure } = ending;
  const known = { mayHaveActed: true, wrongAnswer: answer, isPermanent: true } as const;
  const changes = { ...ended(ending, outcome, failure), ...known };
  const move = !isOnFailure ? 'ask' : record.status === 'probing' ? 'give-up' : 'fail';
  return stepAfter(record, move, inputs, changes);
}

/**
 * After a failed or lost attempt: the next try, an incident, or the end of the recovery. A stage that changes
 * something is entered only in certainty, so an outcome that is still open is resolved by a probe first.
 */
function afterFailure(
  { step, variant, record, inputs, isOverTime }: Ending,
  changes: StepChanges,
  failed: {
    readonly permanent?: boolean;
    readonly retryAfterMs?: number;
    readonly inputRefused?: boolean;
    readonly isTooLate?: boolean;
  } = {},
): Step {
  const { stage, stageAttempt } = record;
  const last = failed.permanent === true ? { ...changes, isPermanent: true as const } : changes;
  const next = nextTry(step, { ...failed, stage, stageAttempt }, inputs.now, inputs.random);
  const isRefused = failed.inputRefused === true && step.tolerate !== true;
  const forTime = (): Step => stepAfter(record, 'fail', inputs, { ...changes, ...FAILED_FOR_TIME });
  if (next.kind === 'person' || (next.kind === 'end' && isRefused)) {
    // A refused input is the author's mistake; what the steps before did is not wrong.
    const isNeeded = isRefused || (variant.effect === 'unsafe' && changes.mayHaveActed === true);
    return isOverTime && !isNeeded ? forTime() : stepAfter(record, 'ask', inputs, last);
  }
  // A failure for good says more than that the time was over.
  if (next.kind === 'end')
    return isOverTime && failed.permanent !== true ? forTime() : stepAfter(record, 'fail', inputs, last);
  const isOpen = changes.mayHaveActed === true && variant.effect !== 'none';
  if (isOpen && changesBetween(step, stage, next.stage)) {
    // A stage that is not entered any more needs no known outcome.
    return isOverTime && variant.effect === 'idempotent'
      ? forTime()
      : stepAfter(record, 'lose', inputs, { ...last, probes: 0, retryAt: inputs.now });
  }
  return stepAfter(record, 'retry', inputs, {
    ...changes,
    ...onStage(step, record, next.stage),
    retryAt: next.retryAt,
  });
}

/** On a stage that changes something, what a person gave for the earlier ones no longer holds. */
const onStage = (step: AgentStep, record: Step, stage: number): StepChanges => ({
  stage,
  stageAttempt: stage === record.stage ? record.stageAttempt : 0,
  ...(changesBetween(step, record.stage, stage) ? { givenInput: undefined } : {}),
});

/**
 * The outcome of an attempt to execute is unknown, after a lost reply or a lost lease. A probed step
 * becomes `unknown` and is probed. An idempotent one is tried again, as far as its recovery allows. About
 * an unsafe one a person is asked.
 */
function lost(ending: Ending, failure: Failure): Step {
  const { variant, record, inputs, free } = ending;
  const changes = { ...ended(ending, 'unknown', failure), mayHaveActed: true };
  if (variant.effect === 'probed') {
    // A dead service cannot be probed either.
    const asked = free && { ...free, deferred: { ...free.deferred, mode: 'probe' as const } };
    return stepAfter(record, 'lose', inputs, { ...changes, probes: 0, retryAt: inputs.now, ...asked });
  }
  if (isRepeatable(variant) && free !== undefined) {
    return stepAfter(record, 'retry', inputs, { ...changes, ...free });
  }
  return afterFailure(ending, changes);
}

function reportedProbe(ending: Ending, report: Report): Step | undefined {
  const { variant, record, inputs } = ending;
  if (report.kind === 'wrong-answer') return answeredWrongly(ending, report, 'done');
  if (report.kind !== 'found') return probedInVain(ending, report);
  switch (report.verdict) {
    case 'done': {
      const { output } = report;
      const known = { output, failure: undefined, isPermanent: undefined };
      return stepAfter(record, 'find-done', inputs, { ...ended(ending, 'done'), ...known });
    }
    case 'running':
      return stepAfter(record, 'find-open', inputs, {
        ...ended(ending, 'still-running'),
        retryAt: inputs.now + variant.leaseMs,
      });
    case 'not-done':
      return foundNothing(ending);
    case 'cannot-tell':
      return probedInVain(ending, report);
  }
}

/**
 * `notDone` is believed only when it was asked after everything that could still act was dead
 * and its settle time had passed.
 */
function foundNothing(ending: Ending): Step {
  const { step, record, inputs, isOverTime } = ending;
  const believableAt = effectsSettledAt(step, record);
  const changes = ended(ending, 'not-done');
  if ((record.claimedAt ?? 0) < believableAt) {
    return stepAfter(record, 'find-open', inputs, {
      ...changes,
      retryAt: Math.max(inputs.now, believableAt),
    });
  }
  const proven = { ...changes, mayHaveActed: false, wrongAnswer: undefined };
  if (record.restarted === true) {
    return stepAfter(record, 'find-nothing', inputs, {
      ...proven,
      ...onStage(step, record, 0),
      stageAttempt: 0,
      restarted: undefined,
      retryAt: inputs.now,
    });
  }
  const { stage, stageAttempt } = record;
  const permanent = record.isPermanent === true;
  // Its charge was given back, because a dead service had failed it (S9): the attempt is still to come.
  const again = { kind: 'attempt', stage, retryAt: inputs.now } as const;
  const next =
    stageAttempt === 0 ? again : nextTry(step, { stage, stageAttempt, permanent }, inputs.now, inputs.random);
  if (next.kind !== 'attempt' && isOverTime)
    return stepAfter(record, 'find-nothing-last', inputs, { ...proven, ...FAILED_FOR_TIME });
  if (next.kind === 'end') return stepAfter(record, 'find-nothing-last', inputs, proven);
  if (next.kind === 'person') return stepAfter(record, 'ask', inputs, proven);
  return stepAfter(record, 'find-nothing', inputs, {
    ...proven,
    ...onStage(step, record, next.stage),
    retryAt: next.retryAt,
  });
}

function probedInVain(ending: Ending, report: Report): Step {
  const { step, record, inputs, free } = ending;
  const failure = 'failure' in report ? report.failure : undefined;
  const vain = ended(ending, 'cannot-tell', failure);
  // A probe that was answered is charged in any case: else it would be asked for ever.
  if (free !== undefined && isThrown(report))
    return stepAfter(record, 'find-open', inputs, { ...vain, ...free });
  // An agent without a probe cannot tell the next time either.
  const probes = failure?.code === 'no-probe' ? MAX_PROBES : record.probes + 1;
  const changes = { ...vain, probes };
  if (probes < MAX_PROBES) {
    const retryAt = nextProbeAt(probes, inputs.now, inputs.random);
    return stepAfter(record, 'find-open', inputs, { ...changes, retryAt });
  }
  if (failure?.code === 'no-probe') return withoutProbe(ending, changes);
  const move = nextWithoutVerdict(step).kind === 'person' ? 'ask' : 'give-up';
  return stepAfter(record, move, inputs, changes);
}

/**
 * The outcome cannot be probed: before a stage that changes something it is undone. If it cannot be undone, a
 * person is asked.
 */
function withoutProbe({ step, variant, record, inputs, isOverTime }: Ending, changes: StepChanges): Step {
  const { stage, stageAttempt } = record;
  const failed = { stage, stageAttempt, permanent: record.isPermanent === true };
  const next = isOverTime ? { kind: 'end' as const } : nextTry(step, failed, inputs.now, 0);
  const isChanged = next.kind === 'attempt' && changesBetween(step, stage, next.stage);
  if (isChanged && variant.undo !== 'none')
    return stepAfter(record, 'give-up', inputs, { ...changes, nextStage: next.stage, retryAt: undefined });
  const isAsked = isChanged || nextWithoutVerdict(step).kind === 'person';
  return stepAfter(record, isAsked ? 'ask' : 'give-up', inputs, changes);
}

function reportedUndo(ending: Ending, report: Report): Step | undefined {
  const { record, inputs } = ending;
  switch (report.kind) {
    case 'compensated':
      return stepAfter(record, 'compensated', inputs, {
        ...ended(ending, 'compensated'),
        mayHaveActed: false,
      });
    case 'failed': {
      const changes = ended(ending, 'failed', report.failure);
      return report.permanent
        ? stepAfter(record, 'fail-undo', inputs, changes)
        : undoAgain(ending, changes, 0);
    }
    case 'unknown':
      return undoLost(ending, report.failure);
    default:
      return undefined;
  }
}

/** An undo whose outcome is unknown is repeated, but not while the lost one may still act. */
const undoLost = (ending: Ending, failure: Failure): Step =>
  undoAgain(
    ending,
    ended(ending, 'unknown', failure),
    ending.record.processDeadlineAt + ending.variant.settleMs,
  );

function undoAgain({ variant, record, inputs, free }: Ending, changes: StepChanges, notBefore: number): Step {
  const at = free?.retryAt ?? nextUndoAt(variant, record.undoAttempt, inputs.now, inputs.random);
  if (at === undefined) return stepAfter(record, 'fail-undo', inputs, changes);
  return stepAfter(record, 'retry-undo', inputs, { ...changes, ...free, retryAt: Math.max(at, notBefore) });
}

const LEASE_LOST: Failure = { code: 'lease-ended', message: 'the attempt went silent and its lease ended' };

const STALLED: Failure = { code: 'no-progress', message: 'the attempt was alive but did not advance' };

/**
 * The record after a lost lease: it ended without a report, which the caller has checked. A
 * probe or an undo is made again.
 * @param failure why the attempt ended, if not by its lease
 */
export function expired(
  step: AgentStep,
  record: LeasedStep,
  inputs: DecisionInputs & Pick<Reported, 'isOverTime'>,
  failure = LEASE_LOST,
): Step {
  // At once, without a backoff: an agent is gone, and nothing says that the service is in trouble.
  const atOnce = record.mode !== 'probe' && failure === LEASE_LOST;
  const ending = endingOf(step, record, { ...inputs, random: atOnce ? 0 : inputs.random });
  const isStalled = record.leaseUntil <= inputs.now && endedByStall(ending.variant, record);
  switch (record.mode) {
    case 'execute':
      return lost(ending, isStalled ? STALLED : failure);
    case 'probe':
      return probedInVain(ending, { kind: 'unknown', failure, codeReturned: false });
    case 'undo':
      return undoLost(ending, failure);
  }
}
