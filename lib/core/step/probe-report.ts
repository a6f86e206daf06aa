/**
 * The writes of an accepted answer and of a probe's end: for an unknown outcome, or for accepted work.
 *
 * Owns: accepted work, the interval of its probes, when its time is over and what follows then; the effect of
 * each verdict on the step, and when `notDone` is believed. Does not own: attempts to execute and to undo
 * (`report.ts`), how long accepted work acts (`process-deadline.ts`).
 *
 * S6 `done` only if a probe found it. A probe's `notDone` counts only if the probe was made after everything
 * that could still act was over, and for accepted work after its first pause. S10 until then an unknown
 * outcome is remembered. L1 the agent's `acceptedWithin` limits the probes.
 */

import { type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import type { AcceptedAnswer, FoundRunning, Report } from '../decisions/events.ts';
import { MAX_ASK_AFTER_MS, MIN_ASK_AFTER_MS } from '../plan/answers.ts';
import type { AgentStep } from '../plan/plan.ts';
import type { Accepted, LeasedStep, Step } from '../records/state.ts';
import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import { isThrown } from './breaker.ts';
import { answeredWrongly, ended, type Ending, isKnownDone, unrecorded } from './ending.ts';
import { isAdvance } from './lease.ts';
import { effectOf } from './effect.ts';
import { CLOCKS_DIFFER_MS } from './process-deadline.ts';
import {
  changesBetween,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextWithoutVerdict,
  onStage,
  wishEndsAt,
} from './recovery.ts';
import { FAILED_FOR_TIME, OVER_TIME } from './within.ts';

/** The record after a probe's report; undefined if the report is not a probe's. */
export function reportedProbe(ending: Ending, report: Report): Step | undefined {
  const { record, inputs } = ending;
  if (report.kind === 'wrong-answer') return answeredWrongly(ending, report, 'done');
  if (report.kind !== 'found') return probedInVain(ending, report);
  switch (report.verdict) {
    case 'done': {
      const { output } = report;
      return stepAfter(record, 'done', inputs, { ...ended(ending, 'done'), output, failure: undefined });
    }
    case 'running':
      return foundRunning(ending, report);
    case 'not-done':
      return foundNothing(ending);
    case 'cannot-tell':
      return probedInVain(ending, report);
  }
}

/**
 * Continues accepted work until its time is over. If the agent accepts work, an unknown outcome that is under
 * way is such work.
 */
function foundRunning(ending: Ending, report: FoundRunning): Step {
  const { variant, record, inputs } = ending;
  const { accepted, restarted } = record;
  const { askAfterMs, progress } = report;
  if (accepted !== undefined && restarted !== true) {
    const probed = afterProbe(ending, accepted, progress);
    if (probed.over !== undefined) return notOverInTime(ending, probed.over);
    return askedAgain(ending, probed, { askAfterMs, probes: 0 });
  }
  if (variant.acceptsMs !== undefined) return foundAccepted(ending, report, variant.acceptsMs);
  return stepAfter(record, 'find-open', inputs, {
    ...ended(ending, 'still-running'),
    status: 'unknown',
    retryAt: inputs.now + (askAfterMs ?? variant.leaseMs),
  });
}

/** Makes no further probe. @param isAsked true if a person is asked */
const givesUp = (record: Step, inputs: DecisionInputs, changes: StepChanges, isAsked = false): Step =>
  stepAfter(record, 'give-up', inputs, { ...changes, status: isAsked ? 'waiting' : 'failed' });

/**
 * The step when the time of accepted work is over and the service still works on it. A repetition, or a stage
 * with another input or agent, begins once the undo has stopped the work; without an undo, only a request
 * that finds the same work may begin.
 */
function notOverInTime(ending: Ending, failure: Failure): Step {
  const { step, variant, record, inputs, isOverTime } = ending;
  const { stage, stageAttempt } = record;
  const changes = { ...ended(ending, 'still-running', failure), retryAt: undefined };
  if (isKnownDone(ending)) return givesUp(record, inputs, changes, true);
  const next = isOverTime
    ? { kind: 'end' as const }
    : nextTry(step, { stage, stageAttempt }, inputs.now, inputs.random);
  if (next.kind === 'attempt') {
    if (variant.undo !== 'none') return givesUp(record, inputs, { ...changes, nextStage: next.stage });
    const isSame = variant.effect === 'idempotent' && !changesBetween(step, stage, next.stage);
    if (isSame || variant.effect === 'none')
      return stepAfter(record, 'find-nothing', inputs, {
        ...changes,
        status: 'retrying',
        ...onStage(step, record, next.stage),
        retryAt: next.retryAt,
      });
  }
  const isAsked = next.kind === 'attempt' || nextWithoutVerdict(step).kind === 'person';
  const forTime = isOverTime ? FAILED_FOR_TIME : {};
  return givesUp(record, inputs, { ...changes, ...forTime }, isAsked);
}

/**
 * Believes `notDone` only if the probe was made after everything that could still act was dead and its settle
 * time had passed.
 */
function foundNothing(ending: Ending): Step {
  const { step, record, inputs, isOverTime } = ending;
  const { accepted, claimedAt = 0 } = record;
  const { attemptsUntil } = effectOf(step, record);
  const believableAt = Math.max(accepted?.askFrom ?? 0, attemptsUntil);
  const refuted = record.wrongAnswer === undefined ? undefined : NOT_DONE;
  // The failure of an unknown outcome is known; accepted work had no failure yet.
  const changes = ended(ending, 'not-done', accepted === undefined ? refuted : NEVER_DONE);
  if (claimedAt < believableAt) {
    const retryAt = Math.max(inputs.now, believableAt);
    return accepted === undefined
      ? stepAfter(record, 'find-open', inputs, { ...changes, status: 'unknown', retryAt })
      : askedAgain(ending, afterProbe(ending, accepted), { retryAt });
  }
  const proven = { ...changes, mayHaveActed: false, wrongAnswer: undefined };
  if (record.restarted === true) {
    return stepAfter(record, 'find-nothing', inputs, {
      ...proven,
      status: 'retrying',
      ...onStage(step, record, 0),
      stageAttempt: 0,
      restarted: undefined,
      retryAt: inputs.now,
    });
  }
  const { stage, stageAttempt } = record;
  const permanent = record.isPermanent === true;
  // True if the next attempt belongs to the same stage: the last one was not charged, because a dead service
  // made it fail (S9), or a person had work retried that counted as done, and no attempt has performed it
  // since.
  const isOwed = stageAttempt === 0 || isKnownDone(ending);
  const again = { kind: 'attempt', stage, retryAt: inputs.now } as const;
  const next = isOwed ? again : nextTry(step, { stage, stageAttempt, permanent }, inputs.now, inputs.random);
  if (next.kind !== 'attempt' && isOverTime)
    return stepAfter(record, 'find-nothing', inputs, { ...proven, ...FAILED_FOR_TIME, status: 'failed' });
  if (next.kind !== 'attempt') {
    const status = next.kind === 'end' ? 'failed' : 'waiting';
    return stepAfter(record, 'find-nothing', inputs, { ...proven, status });
  }
  return stepAfter(record, 'find-nothing', inputs, {
    ...proven,
    status: 'retrying',
    ...onStage(step, record, next.stage),
    retryAt: next.retryAt,
  });
}

/** The record after a probe that could not tell, or was lost. */
export function probedInVain(ending: Ending, report: Report): Step {
  const { step, record, inputs, uncharged } = ending;
  const failure = 'failure' in report ? report.failure : undefined;
  if (record.accepted !== undefined) return acceptedInVain(ending, record.accepted, report, failure);
  const vain = ended(ending, 'cannot-tell', failure);
  // A probe that was answered is always charged, or it would be repeated for ever.
  if (uncharged !== undefined && isThrown(report))
    return stepAfter(record, 'find-open', inputs, {
      ...vain,
      ...uncharged,
      status: 'unknown',
      retryAt: Math.max(uncharged.retryAt, wishEndsAt(inputs.now, wishIn(report))),
    });
  // An agent without a probe can never tell.
  const probes = failure?.code === 'no-probe' ? MAX_PROBES : record.probes + 1;
  const changes = { ...vain, probes };
  if (probes < MAX_PROBES) {
    const retryAt = nextProbeAt(probes, inputs.now, inputs.random, wishIn(report));
    return stepAfter(record, 'find-open', inputs, { ...changes, status: 'unknown', retryAt });
  }
  if (failure?.code === 'no-probe') return withoutProbe(ending, changes);
  const isAsked = isKnownDone(ending) || nextWithoutVerdict(step).kind === 'person';
  return givesUp(record, inputs, changes, isAsked);
}

/** The pause that the service asked for although it could not tell. */
const wishIn = (report: Report): number | undefined =>
  report.kind === 'found' && report.verdict === 'cannot-tell' ? report.askAfterMs : undefined;

/** For accepted work, undecided probes count only once its time is over. */
function acceptedInVain(
  ending: Ending,
  accepted: Accepted,
  report: Report,
  failure: Failure | undefined,
): Step {
  const { record, inputs, uncharged } = ending;
  const probed = afterProbe(ending, accepted);
  const probes = record.probes + 1;
  if (uncharged !== undefined && isThrown(report))
    return askedAgain(ending, probed, { failure, ...uncharged });
  const askAfterMs = wishIn(report);
  if (probed.over === undefined) return askedAgain(ending, probed, { failure, probes, askAfterMs });
  if (failure?.code === 'no-probe' || probes >= MAX_PROBES) return notOverInTime(ending, probed.over);
  const retryAt = nextProbeAt(probes, inputs.now, inputs.random, askAfterMs);
  return askedAgain(ending, probed, { failure, probes, retryAt });
}

/**
 * The step if its outcome cannot be probed: it is undone before a stage that changes something. If it cannot
 * be undone, a person is asked.
 */
function withoutProbe(ending: Ending, vain: StepChanges): Step {
  const { step, variant, record, inputs, isOverTime } = ending;
  // The attempt's own failure says more than that it cannot be probed.
  const changes = { ...vain, ...defined({ failure: record.failure }) };
  if (isKnownDone(ending)) return givesUp(record, inputs, changes, true);
  const { stage, stageAttempt } = record;
  const failed = { stage, stageAttempt, permanent: record.isPermanent === true };
  const next = isOverTime ? { kind: 'end' as const } : nextTry(step, failed, inputs.now, 0);
  const isChanged = next.kind === 'attempt' && changesBetween(step, stage, next.stage);
  if (isChanged && variant.undo !== 'none')
    return givesUp(record, inputs, { ...changes, nextStage: next.stage, retryAt: undefined });
  const isAsked = isChanged || nextWithoutVerdict(step).kind === 'person';
  return givesUp(record, inputs, changes, isAsked);
}

/** The pause before the first probe, if the service does not ask for another one … */
const FIRST_ASK_MS = 30_000;
/** … and, before each later one, this share of the time since: long work is probed less and less often. */
const PART_OF_AGE = 0.1;

const paceMs = (wishMs: number): number => Math.min(Math.max(wishMs, MIN_ASK_AFTER_MS), MAX_ASK_AFTER_MS);

/** When the latest progress was made, from which `progressWithin` counts. */
const advancedAt = ({ progressAt, at }: Accepted): number => progressAt ?? at;

const stallsAt = ({ maxNoProgressMs }: AgentStep, accepted: Accepted): number =>
  maxNoProgressMs === undefined ? Number.POSITIVE_INFINITY : advancedAt(accepted) + maxNoProgressMs;

/**
 * When to probe next: at the service's wish or after the grown interval, but no later than the end of its
 * time.
 * @param overAt when the time of the step or of the execution is over
 */
function askAt(
  variant: AgentStep,
  accepted: Accepted,
  { askAfterMs, overAt = Number.POSITIVE_INFINITY, now }: Pace,
): number {
  const grownMs = Math.max(accepted.everyMs, Math.floor((now - accepted.at) * PART_OF_AGE));
  const endsAt = Math.min(accepted.untilAt, overAt, stallsAt(variant, accepted));
  return Math.min(now + paceMs(askAfterMs ?? grownMs), Math.max(now, endsAt));
}

interface Pace {
  readonly now: number;
  readonly askAfterMs?: number | undefined;
  readonly overAt?: number | undefined;
}

/** The changes of an accepted answer, in time or late. @param withinMs how long the work may go on */
export function acceptance(
  variant: AgentStep,
  record: Step,
  { token, askAfterMs, withinMs }: Omit<AcceptedAnswer, 'kind'>,
  { now, overAt }: Pace,
): StepChanges {
  const everyMs = paceMs(askAfterMs ?? FIRST_ASK_MS);
  const accepted: Accepted = {
    ...defined({ token }),
    at: now,
    // The plan's time counts; the answer's is for a plan that was made before its agent accepted work.
    untilAt: now + (variant.acceptsMs ?? withinMs) + CLOCKS_DIFFER_MS,
    askFrom: now + everyMs,
    everyMs,
    seq: record.version + 1,
    asked: 0,
  };
  return {
    accepted,
    mayHaveActed: true,
    probes: 0,
    failure: undefined,
    restarted: undefined,
    retryAt: askAt(variant, accepted, { now, askAfterMs: everyMs, overAt }),
  };
}

/** The step after an acceptance that came after the lease: adopted if a late success would be. */
export function lateAcceptance(
  variant: AgentStep,
  record: Step,
  report: AcceptedAnswer,
  inputs: DecisionInputs & { readonly overAt?: number },
): Step {
  const isAsked = record.status === 'probing';
  return stepAfter(record, isAsked ? 'find-open' : 'accept', inputs, {
    ...acceptance(variant, record, report, inputs),
    ...(isAsked ? { status: 'accepted' as const, leaseUntil: undefined } : {}),
    afterFailure: undefined,
    nextStage: undefined,
    givenInput: undefined,
    changedAt: inputs.now,
  });
}

/** The step after a probe of an unknown outcome, or of a restarted step, found the service at work. */
const foundAccepted = (ending: Ending, { askAfterMs }: FoundRunning, withinMs: number): Step => {
  const { variant, record, inputs, overAt } = ending;
  const answer = { ...defined({ token: record.accepted?.token, askAfterMs }), withinMs };
  return stepAfter(record, 'find-open', inputs, {
    ...unrecorded(ending),
    status: 'accepted',
    ...acceptance(variant, record, answer, { now: inputs.now, overAt }),
  });
};

/** The state of accepted work after one more probe. */
interface Probed {
  readonly accepted: Accepted;
  /** Why the time of accepted work is over; undefined if it is not. */
  readonly over?: Failure;
}

const STALLED: Failure = { code: 'no-progress', message: 'the accepted work was alive but did not advance' };
const NOT_DONE: Failure = {
  code: 'not-done',
  message: 'an answer said that the work was done, and it was not',
};
const NEVER_DONE: Failure = {
  code: 'not-done',
  message: 'the service had accepted the work, and never did it',
};
const OVER_ACCEPTED: Failure = {
  code: 'accepted-timeout',
  message: "the service accepted the work, but did not finish it in time ('acceptedWithin')",
};

/** @param progress that a probe has reported, if it did */
function afterProbe(
  { variant, record, inputs, isOverTime, overAt = 0 }: Ending,
  before: Accepted,
  progress?: string | number,
): Probed {
  const advanced = progress !== undefined && isAdvance(before.progress, progress);
  const accepted: Accepted = {
    ...before,
    asked: before.asked + 1,
    ...(advanced ? { progress, progressAt: inputs.now } : {}),
  };
  const over = whyOver(variant, record, accepted, isOverTime ? overAt : Number.POSITIVE_INFINITY);
  return { accepted, ...defined({ over }) };
}

/**
 * Why accepted work is over. Only a probe after the end of its time shows that it has not ended by itself.
 */
function whyOver(
  variant: AgentStep,
  { claimedAt = 0 }: LeasedStep,
  accepted: Accepted,
  overAt: number,
): Failure | undefined {
  if (claimedAt >= overAt) return OVER_TIME;
  if (claimedAt >= accepted.untilAt) return OVER_ACCEPTED;
  return claimedAt >= stallsAt(variant, accepted) ? STALLED : undefined;
}

/** The work continues and is probed again. Such a probe is not an attempt, so the history leaves it out. */
function askedAgain(
  ending: Ending,
  { accepted }: Probed,
  changes: StepChanges & { readonly askAfterMs?: number | undefined },
): Step {
  const { variant, record, inputs, overAt } = ending;
  const { askAfterMs, ...others } = changes;
  return stepAfter(record, 'find-open', inputs, {
    ...unrecorded(ending),
    status: 'accepted',
    failure: undefined,
    retryAt: askAt(variant, accepted, { now: inputs.now, askAfterMs, overAt }),
    ...others,
    accepted: { ...accepted, seq: record.version + 1 },
  });
}
