/**
 * The end of an attempt: its report, its late success, or a lease that was not renewed.
 *
 * Owns: what each of these writes to the step, in the modes execute, probe and undo. Does not own: claims and beats
 * (`claim.ts`), what follows in the execution (`execution/rules.ts`).
 *
 * S5 a report commits only with the current token, or as a late success: same token, nobody claimed since. S6 `done`
 * only by a report of done or a probe that found it. S10 an unknown outcome is remembered (`mayHaveActed`) until it is
 * undone or a believed `notDone`.
 */

import { MAX_DURATION_MS } from '../plan/duration.ts';
import type { AgentStep } from '../plan/plan.ts';
import { type Stamp, stepAfter, type StepChanges } from '../records/change.ts';
import type { Hold, Report } from '../records/events.ts';
import type { Failure } from '../records/failure.ts';
import { type Attempt, type HeldStep, isHeld, type Step } from '../records/state.ts';
import { saidOf } from './breaker.ts';
import { type Excuse, excused } from './defer.ts';
import { endedByStall } from './lease.ts';
import { quietAt } from './ready.ts';
import {
  attemptedStage,
  changesBetween,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextUndoAt,
  nextUnsettled,
} from './recovery.ts';

/** History kept on the step. */
const MAX_HISTORY = 20;

/**
 * The record after a report, or nothing when the report is refused (S5).
 * @param priorHardEndAt the step's `hardEndAt` before this attempt's claim
 * @param hold the agent's service is dead: no attempt that failed because of it is charged
 */
export function reported(
  step: AgentStep,
  record: Step | undefined,
  token: string,
  report: Report,
  priorHardEndAt: number,
  stamp: Stamp,
  hold?: Hold,
): Step | undefined {
  if (record === undefined || record.token !== token) return undefined;
  if (!isHeld(record)) return lateSuccess(record, report, stamp);
  // An attempt whose function has returned cannot begin anything any more: its process may live on, its work does not.
  const settled = report.settled && record.mode !== 'probe';
  const hardEndAt = settled ? Math.max(priorHardEndAt, stamp.now) : record.hardEndAt;
  const held = { ...record, hardEndAt };
  const free = excused(held, hold, stamp);
  switch (record.status) {
    case 'running':
      return reportedExecute(step, held, report, stamp, free);
    case 'probing':
      return reportedProbe(step, held, report, stamp, free);
    case 'undoing':
      return reportedUndo(step, held, report, stamp, free);
    default:
      return undefined;
  }
}

/** The work was finished after the lease had ended, and nothing else has started: it counts. */
function lateSuccess(record: Step, report: Report, stamp: Stamp): Step | undefined {
  const adoptable = ['unknown', 'retrying', 'waiting', 'held'].includes(record.status);
  if (report.kind !== 'done' || record.mode !== 'execute' || !adoptable) return undefined;
  return stepAfter(record, 'done', stamp, {
    output: report.output,
    retryAt: undefined,
    failure: undefined,
    // Not tried any more.
    givenInput: undefined,
    changedAt: stamp.now,
  });
}

const historyOf = (
  record: HeldStep,
  outcome: Attempt['outcome'],
  now: number,
  failure?: Failure,
): Attempt[] => {
  const number = record.mode === 'undo' ? record.undoAttempt : record.attempt;
  const { key, keyStage, keyInput } = record;
  const attempt: Attempt = {
    number,
    mode: record.mode,
    ...(key === 1 ? {} : { key }),
    ...(keyStage === 0 ? {} : { stage: keyStage }),
    ...(keyInput === undefined ? {} : { given: true as const }),
    claimedAt: record.claimedAt ?? now,
    endedAt: now,
    outcome,
    ...(failure === undefined ? {} : { failure }),
  };
  return [...record.attempts, attempt].slice(-MAX_HISTORY);
};

/** What every end of an attempt changes: the lease is released at once, the history grows by one. */
const ended = (
  record: HeldStep,
  outcome: Attempt['outcome'],
  stamp: Stamp,
  failure?: Failure,
): StepChanges & { attempts: readonly Attempt[] } => ({
  leaseUntil: undefined,
  hardEndAt: record.hardEndAt,
  changedAt: stamp.now,
  attempts: historyOf(record, outcome, stamp.now, failure),
  ...(failure === undefined ? {} : { failure }),
});

function reportedExecute(
  step: AgentStep,
  record: HeldStep,
  report: Report,
  stamp: Stamp,
  free: Excuse | undefined,
): Step | undefined {
  if (report.kind === 'done') {
    return stepAfter(record, 'done', stamp, {
      ...ended(record, 'done', stamp),
      output: report.output,
      failure: undefined,
    });
  }
  if (report.kind === 'unknown') return lost(step, record, report.failure, stamp, free);
  if (report.kind !== 'failed') return undefined;
  const changes = {
    ...ended(record, 'failed', stamp, report.failure),
    mayHaveActed: record.mayHaveActed || report.acted === true,
  };
  if (free !== undefined && !report.permanent && attemptedStage(step, record).effect !== 'unsafe') {
    const wishMs = Math.min(report.retryAfterMs ?? 0, MAX_DURATION_MS);
    const retryAt = Math.max(free.retryAt, stamp.now + wishMs);
    return stepAfter(record, 'retry', stamp, { ...changes, ...free, retryAt });
  }
  return climb(step, record, changes, stamp, report);
}

/**
 * After a failed or lost attempt: the next try, a question to a person, or the end of the ladder. A rung that changes
 * something is entered only in certainty, so an outcome that is still open is settled by a probe first.
 */
function climb(
  step: AgentStep,
  record: HeldStep,
  changes: StepChanges,
  stamp: Stamp,
  failed: {
    readonly permanent?: boolean;
    readonly retryAfterMs?: number;
    readonly inputRefused?: boolean;
  } = {},
): Step {
  const { rung, rungAttempt } = record;
  const next = nextTry(step, { ...failed, rung, rungAttempt }, stamp.now, stamp.random);
  if (next.kind === 'person' || (next.kind === 'end' && failed.inputRefused === true))
    return stepAfter(record, 'ask', stamp, changes);
  if (next.kind === 'end') return stepAfter(record, 'fail', stamp, changes);
  if (changes.mayHaveActed === true && changesBetween(step, rung, next.rung)) {
    return stepAfter(record, 'lose', stamp, { ...changes, probes: 0, retryAt: stamp.now });
  }
  return stepAfter(record, 'retry', stamp, {
    ...changes,
    ...onRung(step, record, next.rung),
    retryAt: next.retryAt,
  });
}

/** On a rung that changes something, what a person gave for the earlier ones no longer holds. */
const onRung = (step: AgentStep, record: Step, rung: number): StepChanges => ({
  rung,
  rungAttempt: rung === record.rung ? record.rungAttempt : 0,
  ...(changesBetween(step, record.rung, rung) ? { givenInput: undefined } : {}),
});

/** The outcome of an attempt to execute is unknown: ask first, or just repeat what may be repeated. */
function lost(step: AgentStep, record: HeldStep, failure: Failure, stamp: Stamp, free?: Excuse): Step {
  const changes = { ...ended(record, 'unknown', stamp, failure), mayHaveActed: true };
  const { effect } = attemptedStage(step, record);
  if (effect === 'probed') {
    // Whoever is dead cannot be asked either.
    const asked = free === undefined ? {} : { ...free, parked: { ...free.parked, mode: 'probe' as const } };
    return stepAfter(record, 'lose', stamp, { ...changes, probes: 0, retryAt: stamp.now, ...asked });
  }
  if (effect === 'idempotent' && free !== undefined) {
    return stepAfter(record, 'retry', stamp, { ...changes, ...free });
  }
  return climb(step, record, changes, stamp);
}

function reportedProbe(
  step: AgentStep,
  record: HeldStep,
  report: Report,
  stamp: Stamp,
  free: Excuse | undefined,
): Step | undefined {
  if (report.kind !== 'found') return probedInVain(step, record, report, stamp, free);
  switch (report.verdict) {
    case 'done':
      return stepAfter(record, 'find-done', stamp, {
        ...ended(record, 'done', stamp),
        output: report.output,
        failure: undefined,
      });
    case 'running':
      return stepAfter(record, 'find-open', stamp, {
        ...ended(record, 'still-running', stamp),
        retryAt: stamp.now + attemptedStage(step, record).leaseMs,
      });
    case 'not-done':
      return foundNothing(step, record, stamp);
    case 'cannot-tell':
      return probedInVain(step, record, report, stamp, free);
  }
}

/** `notDone` is believed only when it was asked after everything that could still act was dead and settled. */
function foundNothing(step: AgentStep, record: HeldStep, stamp: Stamp): Step {
  const believableAt = quietAt(step, record);
  const changes = ended(record, 'not-done', stamp);
  if ((record.claimedAt ?? 0) < believableAt) {
    return stepAfter(record, 'find-open', stamp, { ...changes, retryAt: Math.max(stamp.now, believableAt) });
  }
  const settled = { ...changes, mayHaveActed: false };
  if (record.anew === true) {
    return stepAfter(record, 'find-nothing', stamp, {
      ...settled,
      ...onRung(step, record, 0),
      rungAttempt: 0,
      anew: undefined,
      retryAt: stamp.now,
    });
  }
  const { rung, rungAttempt } = record;
  // Its charge was given back, for a dead service had failed it (S9): it is still to come, whatever the ladder is.
  const again = { kind: 'attempt', rung, retryAt: stamp.now } as const;
  const next = rungAttempt === 0 ? again : nextTry(step, record, stamp.now, stamp.random);
  if (next.kind === 'end') return stepAfter(record, 'find-nothing-last', stamp, settled);
  if (next.kind === 'person') return stepAfter(record, 'ask', stamp, settled);
  return stepAfter(record, 'find-nothing', stamp, {
    ...settled,
    ...onRung(step, record, next.rung),
    retryAt: next.retryAt,
  });
}

function probedInVain(step: AgentStep, record: HeldStep, report: Report, stamp: Stamp, free?: Excuse): Step {
  const failure = 'failure' in report ? report.failure : undefined;
  if (free !== undefined && saidOf(report) === 'failed') {
    return stepAfter(record, 'find-open', stamp, {
      ...ended(record, 'cannot-tell', stamp, failure),
      ...free,
    });
  }
  // Where there is nobody to ask, asking again is in vain.
  const probes = failure?.code === 'no-probe' ? MAX_PROBES : record.probes + 1;
  const changes = { ...ended(record, 'cannot-tell', stamp, failure), probes };
  if (probes < MAX_PROBES) {
    const retryAt = nextProbeAt(probes, stamp.now, stamp.random);
    return stepAfter(record, 'find-open', stamp, { ...changes, retryAt });
  }
  const next = nextUnsettled(step);
  return next.kind === 'person'
    ? stepAfter(record, 'ask', stamp, changes)
    : stepAfter(record, 'give-up', stamp, changes);
}

function reportedUndo(
  step: AgentStep,
  record: HeldStep,
  report: Report,
  stamp: Stamp,
  free: Excuse | undefined,
): Step | undefined {
  if (report.kind === 'undone') {
    return stepAfter(record, 'undone', stamp, { ...ended(record, 'undone', stamp), mayHaveActed: false });
  }
  if (report.kind === 'failed') {
    if (free !== undefined && !report.permanent) {
      return stepAfter(record, 'retry-undo', stamp, {
        ...ended(record, 'failed', stamp, report.failure),
        ...free,
      });
    }
    const retryAt = report.permanent
      ? undefined
      : nextUndoAt(attemptedStage(step, record), record.undoAttempt, stamp.now, stamp.random);
    const changes = ended(record, 'failed', stamp, report.failure);
    return retryAt === undefined
      ? stepAfter(record, 'fail-undo', stamp, changes)
      : stepAfter(record, 'retry-undo', stamp, { ...changes, retryAt });
  }
  return report.kind === 'unknown' ? undoLost(step, record, report.failure, stamp, free) : undefined;
}

/** An undo whose outcome is unknown is repeated, but not while the lost one may still act. */
function undoLost(step: AgentStep, record: HeldStep, failure: Failure, stamp: Stamp, free?: Excuse): Step {
  const changes = ended(record, 'unknown', stamp, failure);
  const stage = attemptedStage(step, record);
  const deadAt = record.hardEndAt + stage.settleMs;
  if (free !== undefined) {
    const retryAt = Math.max(free.retryAt, deadAt);
    return stepAfter(record, 'retry-undo', stamp, { ...changes, ...free, retryAt });
  }
  const retryAt = nextUndoAt(stage, record.undoAttempt, stamp.now, stamp.random);
  return retryAt === undefined
    ? stepAfter(record, 'fail-undo', stamp, changes)
    : stepAfter(record, 'retry-undo', stamp, {
        ...changes,
        retryAt: Math.max(retryAt, deadAt),
      });
}

const LEASE_LOST: Failure = { code: 'lease-ended', message: 'the attempt went silent and its lease ended' };

const STALLED: Failure = { code: 'no-progress', message: 'the attempt was alive but did not advance' };

/** The record after a lease that ended without a report. The caller has checked that it has. */
export function expired(step: AgentStep, record: HeldStep, stamp: Stamp): Step {
  switch (record.mode) {
    case 'execute': {
      const stalled = endedByStall(attemptedStage(step, record), record);
      // At once, not after a backoff: nothing says that the service is in trouble, only that an agent is gone.
      return lost(step, record, stalled ? STALLED : LEASE_LOST, { ...stamp, random: 0 });
    }
    case 'probe':
      return probedInVain(step, record, { kind: 'unknown', failure: LEASE_LOST, settled: false }, stamp);
    case 'undo':
      return undoLost(step, record, LEASE_LOST, { ...stamp, random: 0 });
  }
}
