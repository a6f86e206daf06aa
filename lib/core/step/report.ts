/**
 * The end of an attempt: its report, its late success, or a lease that was not renewed.
 *
 * Owns: what each of these writes to the step, in the modes execute, probe and undo. Does not own: claims and heartbeats
 * (`claim.ts`), what follows in the execution (`execution/rules.ts`).
 *
 * S5 a report commits only with the current token, or as a late success: same token, nobody claimed since. S6 `done`
 * only by a report of done or a probe that found it. S10 an unknown outcome is remembered (`mayHaveActed`) until it is
 * undone or a believed `notDone`.
 */

import { MAX_DURATION_MS } from '../plan/duration.ts';
import type { AgentStep } from '../plan/plan.ts';
import { type DecisionInputs, stepAfter, type StepChanges } from '../records/change.ts';
import type { OpenBreaker, Report } from '../records/events.ts';
import type { Failure } from '../records/failure.ts';
import { type Attempt, type LeasedStep, isLeased, type Step } from '../records/state.ts';
import { saidOf } from './breaker.ts';
import { type NotCharged, notCharged } from './defer.ts';
import { adoptsLateSuccess, endedByStall } from './lease.ts';
import { effectsSettledAt } from './ready.ts';
import {
  attemptedVariant,
  changesBetween,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextUndoAt,
  nextWithoutVerdict,
} from './recovery.ts';

/** History kept on the step. */
const MAX_HISTORY = 20;

/**
 * The record after a report, or nothing when the report is refused (S5).
 * @param priorProcessDeadlineAt the step's `processDeadlineAt` before this attempt's claim
 * @param hold the agent's service is dead: no attempt that failed because of it is charged
 */
export function reported(
  step: AgentStep,
  record: Step | undefined,
  token: string,
  report: Report,
  priorProcessDeadlineAt: number,
  inputs: DecisionInputs,
  openBreaker?: OpenBreaker,
): Step | undefined {
  if (record === undefined || record.token !== token) return undefined;
  if (!isLeased(record)) return lateSuccess(record, report, inputs);
  // An attempt whose function has returned cannot begin anything any more: its process may live on, its work does not.
  const codeReturned = report.codeReturned && record.mode !== 'probe';
  const processDeadlineAt = codeReturned
    ? Math.max(priorProcessDeadlineAt, inputs.now)
    : record.processDeadlineAt;
  const leased = { ...record, processDeadlineAt };
  const free = notCharged(leased, openBreaker, inputs);
  switch (record.status) {
    case 'running':
      return reportedExecute(step, leased, report, inputs, free);
    case 'probing':
      return reportedProbe(step, leased, report, inputs, free);
    case 'compensating':
      return reportedUndo(step, leased, report, inputs, free);
    default:
      return undefined;
  }
}

/** The work was finished after the lease had ended. */
function lateSuccess(record: Step, report: Report, inputs: DecisionInputs): Step | undefined {
  if (report.kind !== 'done' || record.mode !== 'execute' || !adoptsLateSuccess(record)) return undefined;
  return stepAfter(record, 'done', inputs, {
    output: report.output,
    retryAt: undefined,
    failure: undefined,
    // Not tried any more.
    givenInput: undefined,
    changedAt: inputs.now,
  });
}

const historyOf = (
  record: LeasedStep,
  outcome: Attempt['outcome'],
  now: number,
  failure?: Failure,
): Attempt[] => {
  const number = record.mode === 'undo' ? record.undoAttempt : record.attempt;
  const { key, keyVariant, keyInput } = record;
  const attempt: Attempt = {
    number,
    mode: record.mode,
    ...(key === 1 ? {} : { key }),
    ...(keyVariant === 0 ? {} : { variant: keyVariant }),
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
  record: LeasedStep,
  outcome: Attempt['outcome'],
  inputs: DecisionInputs,
  failure?: Failure,
): StepChanges & { attempts: readonly Attempt[] } => ({
  leaseUntil: undefined,
  processDeadlineAt: record.processDeadlineAt,
  changedAt: inputs.now,
  attempts: historyOf(record, outcome, inputs.now, failure),
  ...(failure === undefined ? {} : { failure }),
});

function reportedExecute(
  step: AgentStep,
  record: LeasedStep,
  report: Report,
  inputs: DecisionInputs,
  free: NotCharged | undefined,
): Step | undefined {
  if (report.kind === 'done') {
    return stepAfter(record, 'done', inputs, {
      ...ended(record, 'done', inputs),
      output: report.output,
      failure: undefined,
    });
  }
  if (report.kind === 'unknown') return lost(step, record, report.failure, inputs, free);
  if (report.kind !== 'failed') return undefined;
  const changes = {
    ...ended(record, 'failed', inputs, report.failure),
    mayHaveActed: record.mayHaveActed || report.acted === true,
  };
  if (free !== undefined && !report.permanent && attemptedVariant(step, record).effect !== 'unsafe') {
    const wishMs = Math.min(report.retryAfterMs ?? 0, MAX_DURATION_MS);
    const retryAt = Math.max(free.retryAt, inputs.now + wishMs);
    return stepAfter(record, 'retry', inputs, { ...changes, ...free, retryAt });
  }
  return climb(step, record, changes, inputs, report);
}

/**
 * After a failed or lost attempt: the next try, a question to a person, or the end of the recovery. A stage that changes
 * something is entered only in certainty, so an outcome that is still open is settled by a probe first.
 */
function climb(
  step: AgentStep,
  record: LeasedStep,
  changes: StepChanges,
  inputs: DecisionInputs,
  failed: {
    readonly permanent?: boolean;
    readonly retryAfterMs?: number;
    readonly inputRefused?: boolean;
  } = {},
): Step {
  const { stage, stageAttempt } = record;
  const next = nextTry(step, { ...failed, stage, stageAttempt }, inputs.now, inputs.random);
  if (next.kind === 'person' || (next.kind === 'end' && failed.inputRefused === true))
    return stepAfter(record, 'ask', inputs, changes);
  if (next.kind === 'end') return stepAfter(record, 'fail', inputs, changes);
  if (changes.mayHaveActed === true && changesBetween(step, stage, next.stage)) {
    return stepAfter(record, 'lose', inputs, { ...changes, probes: 0, retryAt: inputs.now });
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

/** The outcome of an attempt to execute is unknown: ask first, or just repeat what may be repeated. */
function lost(
  step: AgentStep,
  record: LeasedStep,
  failure: Failure,
  inputs: DecisionInputs,
  free?: NotCharged,
): Step {
  const changes = { ...ended(record, 'unknown', inputs, failure), mayHaveActed: true };
  const { effect } = attemptedVariant(step, record);
  if (effect === 'probed') {
    // Whoever is dead cannot be asked either.
    const asked =
      free === undefined ? {} : { ...free, deferred: { ...free.deferred, mode: 'probe' as const } };
    return stepAfter(record, 'lose', inputs, { ...changes, probes: 0, retryAt: inputs.now, ...asked });
  }
  if (effect === 'idempotent' && free !== undefined) {
    return stepAfter(record, 'retry', inputs, { ...changes, ...free });
  }
  return climb(step, record, changes, inputs);
}

function reportedProbe(
  step: AgentStep,
  record: LeasedStep,
  report: Report,
  inputs: DecisionInputs,
  free: NotCharged | undefined,
): Step | undefined {
  if (report.kind !== 'found') return probedInVain(step, record, report, inputs, free);
  switch (report.verdict) {
    case 'done':
      return stepAfter(record, 'find-done', inputs, {
        ...ended(record, 'done', inputs),
        output: report.output,
        failure: undefined,
      });
    case 'running':
      return stepAfter(record, 'find-open', inputs, {
        ...ended(record, 'still-running', inputs),
        retryAt: inputs.now + attemptedVariant(step, record).leaseMs,
      });
    case 'not-done':
      return foundNothing(step, record, inputs);
    case 'cannot-tell':
      return probedInVain(step, record, report, inputs, free);
  }
}

/** `notDone` is believed only when it was asked after everything that could still act was dead and settled. */
function foundNothing(step: AgentStep, record: LeasedStep, inputs: DecisionInputs): Step {
  const believableAt = effectsSettledAt(step, record);
  const changes = ended(record, 'not-done', inputs);
  if ((record.claimedAt ?? 0) < believableAt) {
    return stepAfter(record, 'find-open', inputs, {
      ...changes,
      retryAt: Math.max(inputs.now, believableAt),
    });
  }
  const proven = { ...changes, mayHaveActed: false };
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
  // Its charge was given back, for a dead service had failed it (S9): it is still to come, whatever the recovery is.
  const again = { kind: 'attempt', stage, retryAt: inputs.now } as const;
  const next = stageAttempt === 0 ? again : nextTry(step, record, inputs.now, inputs.random);
  if (next.kind === 'end') return stepAfter(record, 'find-nothing-last', inputs, proven);
  if (next.kind === 'person') return stepAfter(record, 'ask', inputs, proven);
  return stepAfter(record, 'find-nothing', inputs, {
    ...proven,
    ...onStage(step, record, next.stage),
    retryAt: next.retryAt,
  });
}

function probedInVain(
  step: AgentStep,
  record: LeasedStep,
  report: Report,
  inputs: DecisionInputs,
  free?: NotCharged,
): Step {
  const failure = 'failure' in report ? report.failure : undefined;
  if (free !== undefined && saidOf(report) === 'failed') {
    return stepAfter(record, 'find-open', inputs, {
      ...ended(record, 'cannot-tell', inputs, failure),
      ...free,
    });
  }
  // Where there is nobody to ask, asking again is in vain.
  const probes = failure?.code === 'no-probe' ? MAX_PROBES : record.probes + 1;
  const changes = { ...ended(record, 'cannot-tell', inputs, failure), probes };
  if (probes < MAX_PROBES) {
    const retryAt = nextProbeAt(probes, inputs.now, inputs.random);
    return stepAfter(record, 'find-open', inputs, { ...changes, retryAt });
  }
  const next = nextWithoutVerdict(step);
  return next.kind === 'person'
    ? stepAfter(record, 'ask', inputs, changes)
    : stepAfter(record, 'give-up', inputs, changes);
}

function reportedUndo(
  step: AgentStep,
  record: LeasedStep,
  report: Report,
  inputs: DecisionInputs,
  free: NotCharged | undefined,
): Step | undefined {
  if (report.kind === 'compensated') {
    return stepAfter(record, 'compensated', inputs, {
      ...ended(record, 'compensated', inputs),
      mayHaveActed: false,
    });
  }
  if (report.kind === 'failed') {
    if (free !== undefined && !report.permanent) {
      return stepAfter(record, 'retry-undo', inputs, {
        ...ended(record, 'failed', inputs, report.failure),
        ...free,
      });
    }
    const retryAt = report.permanent
      ? undefined
      : nextUndoAt(attemptedVariant(step, record), record.undoAttempt, inputs.now, inputs.random);
    const changes = ended(record, 'failed', inputs, report.failure);
    return retryAt === undefined
      ? stepAfter(record, 'fail-undo', inputs, changes)
      : stepAfter(record, 'retry-undo', inputs, { ...changes, retryAt });
  }
  return report.kind === 'unknown' ? undoLost(step, record, report.failure, inputs, free) : undefined;
}

/** An undo whose outcome is unknown is repeated, but not while the lost one may still act. */
function undoLost(
  step: AgentStep,
  record: LeasedStep,
  failure: Failure,
  inputs: DecisionInputs,
  free?: NotCharged,
): Step {
  const changes = ended(record, 'unknown', inputs, failure);
  const variant = attemptedVariant(step, record);
  const deadAt = record.processDeadlineAt + variant.settleMs;
  if (free !== undefined) {
    const retryAt = Math.max(free.retryAt, deadAt);
    return stepAfter(record, 'retry-undo', inputs, { ...changes, ...free, retryAt });
  }
  const retryAt = nextUndoAt(variant, record.undoAttempt, inputs.now, inputs.random);
  return retryAt === undefined
    ? stepAfter(record, 'fail-undo', inputs, changes)
    : stepAfter(record, 'retry-undo', inputs, {
        ...changes,
        retryAt: Math.max(retryAt, deadAt),
      });
}

const LEASE_LOST: Failure = { code: 'lease-ended', message: 'the attempt went silent and its lease ended' };

const STALLED: Failure = { code: 'no-progress', message: 'the attempt was alive but did not advance' };

/** The record after a lease that ended without a report. The caller has checked that it has. */
export function expired(step: AgentStep, record: LeasedStep, inputs: DecisionInputs): Step {
  switch (record.mode) {
    case 'execute': {
      const stalled = endedByStall(attemptedVariant(step, record), record);
      // At once, not after a backoff: nothing says that the service is in trouble, only that an agent is gone.
      return lost(step, record, stalled ? STALLED : LEASE_LOST, { ...inputs, random: 0 });
    }
    case 'probe':
      return probedInVain(
        step,
        record,
        { kind: 'unknown', failure: LEASE_LOST, codeReturned: false },
        inputs,
      );
    case 'undo':
      return undoLost(step, record, LEASE_LOST, { ...inputs, random: 0 });
  }
}
