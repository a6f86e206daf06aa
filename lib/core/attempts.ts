/**
 * The life of one attempt: claim and beat, and how a step is settled without one.
 *
 * Owns: what each of these writes to the step, in the modes execute, probe and undo. Does not own: which work there is
 * (`work.ts`), how an attempt ends (`reports.ts`). Everything here is pure and returns the new record.
 *
 * S3 a fresh token per claim. S4 one holder at a time. S9 only a claim counts an attempt. S18 the claim records its effect
 * key and what that stands for.
 */

import { keyOfClaim } from './effect-key.ts';
import type { AgentStep, StepLimits } from './plan.ts';
import { type Execution, type HeldStep, isHeld, type Step } from './state.ts';
import { leaseSpanMs, REPORT_GRACE_MS } from './watch.ts';
import type { Work } from './work.ts';
import { blankStep, type Stamp, stepAfter } from './write.ts';

/** Two clocks, each 2 s wrong: who reads by when a process is dead for certain may have the faster one (S6, S10). */
export const CLOCKS_DIFFER_MS = 4_000;

const CLAIM_EVENT = { execute: 'claim', probe: 'probe', undo: 'start-undo' } as const;

/**
 * The record of a claim. The lease is counted from `stamp.now`, which is before the write.
 * @param hardEndAt when this attempt's process is dead for certain
 */
export function claimed(
  work: Work,
  record: Step | undefined,
  execution: Pick<Execution, 'life' | 'epoch'>,
  token: string,
  hardEndAt: number,
  stamp: Stamp,
): Step {
  const before = record ?? blankStep(work.step.name, execution);
  const counts =
    work.mode === 'execute'
      ? { attempt: work.attempt, rungAttempt: before.rungAttempt + 1, undoAttempt: before.undoAttempt }
      : work.mode === 'undo'
        ? { attempt: before.attempt, rungAttempt: before.rungAttempt, undoAttempt: work.attempt }
        : before;
  return stepAfter(before, CLAIM_EVENT[work.mode], stamp, {
    attempt: counts.attempt,
    rungAttempt: counts.rungAttempt,
    undoAttempt: counts.undoAttempt,
    epoch: execution.epoch,
    token,
    mode: work.mode,
    claimedAt: stamp.now,
    leaseUntil: Math.min(
      stamp.now + (work.mode === 'execute' ? leaseSpanMs(work.step) : work.step.leaseMs),
      hardEndAt,
    ),
    progress: undefined,
    progressAt: undefined,
    heartbeatAt: undefined,
    // A probe only asks: nothing has to wait for its process to be dead.
    hardEndAt:
      work.mode === 'probe' ? before.hardEndAt : Math.max(before.hardEndAt, hardEndAt + CLOCKS_DIFFER_MS),
    beat: 0,
    retryAt: undefined,
    ...(work.mode === 'execute' ? { anew: undefined, ...keyOfClaim(work.step, before) } : {}),
    ...(work.mode === 'undo' ? { keySpent: true as const } : {}),
  });
}

/** A record that was fenced, held or skipped without ever having been claimed, or after. */
export function settledAs(
  name: string,
  record: Step | undefined,
  execution: Pick<Execution, 'life' | 'epoch'>,
  event: 'skip' | 'seal' | 'hold',
  stamp: Stamp,
): Step {
  return stepAfter(record ?? blankStep(name, execution), event, stamp, {
    epoch: execution.epoch,
    changedAt: stamp.now,
    retryAt: undefined,
  });
}

/** The latest `ctx.progress` of an attempt, and when it was called. */
export interface Progress {
  readonly token: string;
  readonly at: number;
}

/** Alive is not advancing: the lease ends here unless there is progress before. */
export const stalledAt = (step: AgentStep, record: HeldStep, progressAt: number): number =>
  step.maxNoProgressMs === undefined || record.mode !== 'execute'
    ? Number.POSITIVE_INFINITY
    : progressAt + step.maxNoProgressMs;

const BEATS_PER_LEASE = 3;
/** How often a living attempt renews its lease. */
export const beatEveryMs = (step: StepLimits): number => Math.floor(leaseSpanMs(step) / BEATS_PER_LEASE);
/** Between the last beat and the end of a lease: one beat, and half a one for a store that answers slowly. */
const BEATS_OF_SILENCE = 1.5;

/**
 * Whether the lease ended for want of progress: it was cut short for it, and the attempt was heard of until its end. When the
 * end is noticed proves nothing: whoever notices late finds every attempt beyond its time without progress, a dead one as well.
 */
export const endedByStall = (step: AgentStep, record: HeldStep): boolean =>
  record.leaseUntil >= stalledAt(step, record, record.progressAt ?? record.claimedAt ?? 0) &&
  record.leaseUntil - (record.heartbeatAt ?? record.claimedAt ?? 0) <= BEATS_OF_SILENCE * beatEveryMs(step);

/** The record of a beat, or nothing when the token is no longer the current one, the attempt's time is over, or it stalls. */
export function beaten(
  step: AgentStep,
  record: Step | undefined,
  token: string,
  progress: Progress | undefined,
  stamp: Stamp,
): Step | undefined {
  if (!isHeld(record) || record.token !== token) return undefined;
  const overAt = (record.claimedAt ?? 0) + step.timeoutMs + REPORT_GRACE_MS;
  const endAt = record.mode === 'probe' ? overAt : Math.min(overAt, record.hardEndAt);
  const advanced = progress !== undefined && progress.token !== record.progress;
  const progressAt = advanced ? progress.at : (record.progressAt ?? record.claimedAt ?? 0);
  const leaseUntil = Math.min(stamp.now + step.leaseMs, endAt, stalledAt(step, record, progressAt));
  if (leaseUntil <= stamp.now) return undefined;
  return stepAfter(record, 'beat', stamp, {
    leaseUntil: Math.max(leaseUntil, record.leaseUntil),
    beat: record.beat + 1,
    heartbeatAt: stamp.now,
    ...(advanced ? { progress: progress.token, progressAt } : {}),
  });
}
