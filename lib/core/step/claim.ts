/**
 * The claim of an attempt, and how a step ends without one.
 *
 * Owns: what a claim writes to the step, in the modes execute, probe and undo. Does not own: which work there
 * is (`step/ready.ts`), the lease (`step/lease.ts`), how an attempt ends (`step/report.ts`).
 *
 * S3 a fresh token per claim. S4 one holder at a time. S9 only a claim counts an attempt. S18 the claim
 * records its effect key, with the agent and the input that the key stands for.
 */

import { blankStep, type DecisionInputs, type StepChanges, stepAfter } from '../decisions/change.ts';
import type { EventOf } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';
import { keyOfClaim } from './effect-key.ts';
import { leaseSpanMs } from './lease.ts';
import { withProcess } from './process-deadline.ts';
import type { Work } from './ready.ts';

const CLAIM_EVENT = { execute: 'claim', probe: 'probe', undo: 'start-undo' } as const;

/**
 * The record of a claim. The lease counts from `event.now`, which is before the write.
 * @param processDeadlineAt when this attempt's process is certainly dead
 */
export function claimed(
  work: Work,
  { execution, steps }: Snapshot,
  event: Pick<EventOf<'deliver'>, 'token' | 'processDeadlineAt'> & DecisionInputs,
): Step {
  const before = steps[work.step.name] ?? blankStep(work.step.name, execution);
  const { token, processDeadlineAt, now } = event;
  const leaseMs = work.mode === 'execute' ? leaseSpanMs(work.step) : work.step.leaseMs;
  return stepAfter(before, CLAIM_EVENT[work.mode], event, {
    epoch: execution.epoch,
    token,
    mode: work.mode,
    claimedAt: now,
    leaseUntil: Math.min(now + leaseMs, processDeadlineAt),
    progress: undefined,
    progressAt: undefined,
    heartbeatAt: undefined,
    heartbeat: 0,
    retryAt: undefined,
    // Last, because V8 is slow to add fields to an object that was spread from several shapes. A probe only
    // asks: nothing has to wait for its process to be dead.
    ...(work.mode === 'probe' ? {} : withProcess(before, token, processDeadlineAt, now)),
    ...actedTokenOf(work, before),
    ...countsOf(work, before),
  });
}

/** A probe's claim keeps everything about the attempt that it asks about. */
function actedTokenOf({ mode }: Work, before: Step): StepChanges {
  if (mode !== 'probe') return before.actedToken === undefined ? {} : { actedToken: undefined };
  return before.mode === 'execute' ? { actedToken: before.token } : {};
}

/** The further changes of each mode. */
function countsOf({ mode, attempt, step }: Work, before: Step): StepChanges {
  if (mode === 'probe') return {};
  if (mode === 'undo') return { undoAttempt: attempt, keySpent: true };
  return {
    attempt,
    stageAttempt: before.stageAttempt + 1,
    restarted: undefined,
    isOverTime: undefined,
    nextStage: undefined,
    ...keyOfClaim(step, before),
  };
}

/** A record that was fenced or skipped, whether or not it was ever claimed. */
export function closedWithoutAttempt(
  { execution, steps }: Snapshot,
  name: string,
  event: 'skip' | 'fence',
  inputs: DecisionInputs,
): Step {
  return stepAfter(steps[name] ?? blankStep(name, execution), event, inputs, {
    epoch: execution.epoch,
    changedAt: inputs.now,
    retryAt: undefined,
    // A closed step waits for no undo: time in a pause does not count as time in which the undo could not
    // begin.
    undoDeferredAt: undefined,
  });
}
