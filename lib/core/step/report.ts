/**
 * The end of an attempt: its report, its late success, a lease that was not renewed, or the death of its
 * process, recorded by the worker that killed it or found it dead.
 *
 * Owns: the changes of the step by each of these, in the modes execute and undo. Does not own: claims
 * (`execution/on-message.ts`), heartbeats (`lease.ts`), the writes that all ends share (`ending.ts`), a
 * probe's findings (`probe-report.ts`), the shares of the process deadline (`process-deadline.ts`), ending
 * all programs of a dead process (`lib/worker/`), what follows in the execution (`rules.ts`).
 *
 * S5 a report commits only with the current token, or as a late success: the same token, and since then no
 * claim but to probe. A death during the lease ends the attempt with an unknown outcome. A death that is
 * reported later, also of an earlier attempt, changes only times, never an outcome. S6 a step is `done` only
 * by a report, or a probe, that says so. S10 an unknown outcome is remembered (`mayHaveActed`) until the step
 * is undone, or a probe's `notDone` is believed; a death lowers only its own share of the process deadline.
 */

import { canMoveStep, type DecisionInputs, stepAfter, type StepChanges } from '../decisions/change.ts';
import type { AcceptedAnswer, EventOf, Report } from '../decisions/events.ts';
import type { AgentStep } from '../plan/plan.ts';
import { isLeased, type LeasedStep, type Step } from '../records/state.ts';
import { type Away, awayMs } from '../values/away.ts';
import { defined } from '../values/defined.ts';
import { MAX_DURATION_MS } from '../values/duration.ts';
import type { Failure } from '../values/failure.ts';
import { answeredWrongly, ended, type Ending, endingOf, isKnownDone, type Reported } from './ending.ts';
import { adoptsLateSuccess, endedByStall } from './lease.ts';
import { acceptance, lateAcceptance, probedInVain, reportedProbe } from './probe-report.ts';
import { CLOCKS_DIFFER_MS, lowered, settlesAt, withLater } from './process-deadline.ts';
import {
  attemptedVariant,
  changesBetween,
  isRepeatable,
  nextTry,
  nextUndoAt,
  onStage,
  wishEndsAt,
} from './recovery.ts';
import { FAILED_FOR_TIME } from './within.ts';

/** The record after a report; undefined if the report is refused (S5). */
export function reported(
  step: AgentStep,
  record: Step | undefined,
  event: Reported & DecisionInputs,
): Step | undefined {
  const { token, report } = event;
  if (record === undefined) return undefined;
  const isAskedAbout = record.token !== token && record.actedToken === token;
  if (isAskedAbout) return lateSuccess(step, record, report, event);
  if (record.token !== token) return undefined;
  if (!isLeased(record))
    return record.mode === 'execute' ? lateSuccess(step, record, report, event) : undefined;
  // An attempt whose function has returned begins nothing more, even if its process lives on.
  const codeReturned = report.codeReturned && record.mode !== 'probe';
  const until = codeReturned
    ? { ...record, ...lowered(record, token, event.now) }
    : withLater(record, awayMs(event.away, record.claimedAt ?? 0));
  const ending = endingOf(step, until, event);
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

/**
 * True if a late acceptance is news: it is not yet recorded with its token, and the work is not yet known to
 * be done.
 */
const saysMore = ({ accepted, wrongAnswer }: Step, { token }: AcceptedAnswer): boolean =>
  wrongAnswer === undefined &&
  (accepted === undefined || (accepted.token === undefined && token !== undefined));

/** P7 True if a report after the end of its lease counts: only if the work is done or accepted. */
export const adoptsLate = (record: Step, report: Report, mayFail: boolean): boolean =>
  (record.status === 'probing' || adoptsLateSuccess(record, mayFail)) &&
  (report.kind === 'done' || (report.kind === 'accepted' && saysMore(record, report)));

/** The step after its work was finished or accepted after the lease had ended. */
function lateSuccess(
  step: AgentStep,
  record: Step,
  report: Report,
  inputs: DecisionInputs & Pick<Reported, 'mayFail' | 'overAt'>,
): Step | undefined {
  if (!adoptsLate(record, report, inputs.mayFail === true)) return undefined;
  if (report.kind === 'accepted')
    return lateAcceptance(attemptedVariant(step, record), record, report, inputs);
  if (report.kind !== 'done') return undefined;
  const isAsked = record.status === 'probing';
  return stepAfter(record, 'done', inputs, {
    ...(isAsked ? { leaseUntil: undefined } : {}),
    output: report.output,
    retryAt: undefined,
    failure: undefined,
    afterFailure: undefined,
    nextStage: undefined,
    // The input was given for one attempt, and that has succeeded.
    givenInput: undefined,
    changedAt: inputs.now,
  });
}

function reportedExecute(ending: Ending, report: Report): Step | undefined {
  const { variant, record, inputs, uncharged } = ending;
  if (report.kind === 'done') {
    const { output } = report;
    return stepAfter(record, 'done', inputs, { ...ended(ending, 'done'), output, failure: undefined });
  }
  if (report.kind === 'accepted') {
    const pace = { now: inputs.now, overAt: ending.overAt };
    const changes = { ...ended(ending, 'accepted'), ...acceptance(variant, record, report, pace) };
    return stepAfter(record, 'accept', inputs, changes);
  }
  if (report.kind === 'unknown') return lost(ending, report.failure, report.retryAfterMs);
  if (report.kind === 'wrong-answer') return answeredWrongly(ending, report, 'failed');
  if (report.kind !== 'failed') return undefined;
  const changes = { ...ended(ending, 'failed', report.failure), mayHaveActed: record.mayHaveActed };
  const wishMs = Math.min(report.retryAfterMs ?? 0, MAX_DURATION_MS);
  // If the service asks for more time than is left, the next stage may begin at once.
  const isTooLate = ending.overAt !== undefined && wishMs > 0 && inputs.now + wishMs >= ending.overAt;
  const isAgain = variant.effect !== 'unsafe' || report.interrupted === true;
  if (uncharged !== undefined && !report.permanent && !isTooLate && isAgain) {
    const retryAt = Math.max(uncharged.retryAt, inputs.now + wishMs);
    return stepAfter(record, 'fail', inputs, { ...changes, ...uncharged, status: 'retrying', retryAt });
  }
  return afterFailure(ending, changes, { ...report, isTooLate });
}

/**
 * After a failed or lost attempt: the next attempt, an incident, or the end of the recovery. A stage with
 * another input or agent begins only after the outcome is known, so an unknown one is probed first.
 */
function afterFailure(
  ending: Ending,
  changes: StepChanges,
  failed: {
    readonly permanent?: boolean;
    readonly retryAfterMs?: number;
    readonly inputRefused?: boolean;
    readonly isTooLate?: boolean;
  } = {},
): Step {
  const { step, variant, record, inputs, isOverTime } = ending;
  const { stage, stageAttempt } = record;
  const last = failed.permanent === true ? { ...changes, isPermanent: true as const } : changes;
  const next = nextTry(step, { ...failed, stage, stageAttempt }, inputs.now, inputs.random);
  const isRefused = failed.inputRefused === true && step.tolerate !== true;
  const isLast = next.kind !== 'attempt' || changesBetween(step, stage, next.stage);
  if (isLast && isKnownDone(ending)) return stepAfter(record, 'fail', inputs, { ...last, status: 'waiting' });
  const forTime = (): Step =>
    stepAfter(record, 'fail', inputs, { ...changes, ...FAILED_FOR_TIME, status: 'failed' });
  if (next.kind === 'person' || (next.kind === 'end' && isRefused)) {
    // A refused input is the author's mistake; nothing is wrong with the effects of earlier steps.
    const isNeeded = isRefused || (variant.effect === 'unsafe' && changes.mayHaveActed === true);
    return isOverTime && !isNeeded
      ? forTime()
      : stepAfter(record, 'fail', inputs, { ...last, status: 'waiting' });
  }
  // A permanent failure says more than that the time is over, so it is recorded instead.
  if (next.kind === 'end')
    return isOverTime && failed.permanent !== true
      ? forTime()
      : stepAfter(record, 'fail', inputs, { ...last, status: 'failed' });
  const isOpen = changes.mayHaveActed === true && variant.effect !== 'none';
  if (isOpen && changesBetween(step, stage, next.stage)) {
    // The step's time is over, so no stage follows that would need a known outcome.
    return isOverTime && variant.effect === 'idempotent'
      ? forTime()
      : stepAfter(record, 'lose', inputs, { ...last, probes: 0, retryAt: inputs.now });
  }
  return stepAfter(record, 'fail', inputs, {
    ...changes,
    status: 'retrying',
    ...onStage(step, record, next.stage),
    retryAt: next.retryAt,
  });
}

/**
 * The step after an attempt to execute with an unknown outcome: its reply or its lease was lost. A probed
 * step becomes `unknown` and is probed. An idempotent step, or one without effects, is tried again while its
 * recovery allows it. For an unsafe step a person is asked: its recovery has no other stage.
 * @param wishMs the pause that the service asks for; ignored if no time is left after it
 */
function lost(ending: Ending, failure: Failure, wishMs = 0): Step {
  const { variant, record, inputs, uncharged, overAt = Number.POSITIVE_INFINITY } = ending;
  const retryAfterMs = inputs.now + wishMs < overAt ? wishMs : 0;
  const changes = { ...ended(ending, 'unknown', failure), mayHaveActed: true };
  if (variant.effect === 'probed') {
    // If the service is known to be dead, the probe is deferred too.
    const deferred = uncharged?.deferred && { ...uncharged.deferred, mode: 'probe' as const };
    const asked = uncharged && { ...uncharged, ...defined({ deferred }) };
    const retryAt = Math.max(asked?.retryAt ?? inputs.now, wishEndsAt(inputs.now, retryAfterMs));
    return stepAfter(record, 'lose', inputs, { ...changes, probes: 0, ...asked, retryAt });
  }
  if (isRepeatable(variant) && uncharged !== undefined) {
    const retryAt = Math.max(uncharged.retryAt, inputs.now + retryAfterMs);
    return stepAfter(record, 'fail', inputs, { ...changes, ...uncharged, status: 'retrying', retryAt });
  }
  return afterFailure(ending, changes, { retryAfterMs });
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
        ? stepAfter(record, 'fail-undo', inputs, { ...changes, status: 'compensation-failed' })
        : undoAgain(ending, changes, wishEndsAt(inputs.now, report.retryAfterMs));
    }
    case 'unknown':
      return undoLost(ending, report.failure, report.retryAfterMs);
    default:
      return undefined;
  }
}

/** Repeats an undo with an unknown outcome, once the lost one can no longer act. */
const undoLost = (ending: Ending, failure: Failure, wishMs?: number): Step =>
  undoAgain(
    ending,
    ended(ending, 'unknown', failure),
    Math.max(settlesAt(ending.variant, ending.record), wishEndsAt(ending.inputs.now, wishMs)),
  );

function undoAgain(
  { variant, record, inputs, uncharged }: Ending,
  changes: StepChanges,
  earliestAt: number,
): Step {
  const at = uncharged?.retryAt ?? nextUndoAt(variant, record.undoAttempt, inputs.now, inputs.random);
  if (at === undefined)
    return stepAfter(record, 'fail-undo', inputs, { ...changes, status: 'compensation-failed' });
  return stepAfter(record, 'fail-undo', inputs, {
    ...changes,
    status: 'compensating',
    ...uncharged,
    retryAt: Math.max(at, earliestAt),
  });
}

const LEASE_LOST: Failure = { code: 'lease-ended', message: 'the attempt went silent and its lease ended' };

const STALLED: Failure = { code: 'no-progress', message: 'the attempt was alive but did not advance' };

/**
 * The record after a lost lease; the caller has checked that it ended without a report. For an attempt to
 * execute see `lost`; a probe or an undo is made again, as often as its limit allows.
 * @param failure why the attempt ended, if not because of its lease
 */
export function leaseLost(
  step: AgentStep,
  record: LeasedStep,
  inputs: DecisionInputs &
    Pick<Reported, 'isOverTime'> & { readonly away?: readonly Away[]; readonly interrupted?: true },
  failure = LEASE_LOST,
): Step {
  // The next attempt begins at once (a random value of 0 makes the backoff 0): the agent died, not its
  // service.
  const atOnce = record.mode !== 'probe' && failure === LEASE_LOST;
  // The process lives longer by the time during which it was frozen.
  const later = withLater(record, awayMs(inputs.away, record.claimedAt ?? 0));
  const ending = endingOf(step, later, { ...inputs, random: atOnce ? 0 : inputs.random });
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

const processDied = (exit: string | undefined): Failure => ({
  code: 'process-died',
  message: `the process of the attempt died${exit === undefined ? '' : `: ${exit}`}`,
});

/**
 * The record after the death of an attempt's process; undefined if nothing follows. While the attempt has its
 * lease, it ends. Later its share of the process deadline is lowered, and work that waits for that comes
 * sooner.
 */
export function afterDeath(
  step: AgentStep,
  record: Step,
  event: Pick<EventOf<'process-died'>, 'token' | 'exit' | 'interrupted'> &
    DecisionInputs & { readonly isOverTime?: boolean },
): Step | undefined {
  const { token, now } = event;
  const deadlines = lowered(record, token, now + CLOCKS_DIFFER_MS);
  // Otherwise a process that dies in every attempt would use them all up at once: wait as after a failure.
  if (isLeased(record) && record.token === token)
    return leaseLost(step, { ...record, ...deadlines }, event, processDied(event.exit));
  if (deadlines === undefined || !canMoveStep(record.status, 'process-died')) return undefined;
  const variant = attemptedVariant(step, record);
  const isAwaited = record.retryAt === settlesAt(variant, record);
  return stepAfter(record, 'process-died', event, {
    ...deadlines,
    ...(isAwaited ? { retryAt: settlesAt(variant, deadlines) } : {}),
    // Keeps the status.
    ...defined({ deferred: record.deferred }),
  });
}
