/**
 * The breaker: one record per agent shows all executions whether the agent's service answers.
 *
 * Owns: when it opens, for how long, who may try, what closes it, since when calls fail, and until when work
 * is deferred. Does not own: reading and writing the record (`agent/breaker.ts`), a step meanwhile
 * (`defer.ts`).
 *
 * Only failures are written, so a healthy step costs nothing: a process counts its own answered calls and
 * adds them to its next failure. The score rises by one per failure and falls by one per added answer, never
 * below zero: it grows only while more calls fail than are answered, whatever their rate. An operator may
 * keep the breaker open (`pause`): then nothing is sent, not even a trial, until an operator ends that.
 * Failures are kept meanwhile: if the service was dead before, a trial comes first. A dead service is called
 * THRESHOLD times, once by each process that does not know yet, and once per trial.
 */

import type { DecisionInputs } from '../decisions/change.ts';
import type { EndedHold, Hold } from '../records/hold.ts';
import type { Report } from '../decisions/events.ts';
import type { NotBefore } from '../records/state.ts';
import { type Bugs, bugsAfter } from '../values/bugs.ts';
import { type FailedCall, isAnswered, type Unanswered, unansweredAfter } from '../records/unanswered.ts';
import { CANNOT_TELL, type Failure } from '../values/failure.ts';
import { BUG } from '../values/bug.ts';
import { cut } from '../values/text.ts';
import { defined } from '../values/defined.ts';
import { CLOCKS_DIFFER_MS } from './process-deadline.ts';

/** The breaker opens when failures exceed answers by this many. */
export const THRESHOLD = 8;
/** Failures farther apart than this are unrelated, and older answers do not count. */
export const WINDOW_MS = 30_000;
const FIRST_COOLDOWN_MS = 10_000;
export const MAX_COOLDOWN_MS = 120_000;
/** The part of a cooldown that is added at random. */
const COOLDOWN_JITTER = 0.25;
/** If it opens again within this time of closing, the cooldown keeps doubling from its last value. */
const FLAPPING_MS = 600_000;
/** After this time without a result a trial no longer blocks other trials. */
const MAX_TRIAL_MS = 60_000;
/** How long a process uses its last read of an open breaker. */
export const OPEN_FRESH_MS = 5_000;
/**
 * While an operator keeps the breaker open, how long deferred work waits to be evaluated again; it is then
 * spread.
 */
const PAUSED_MS = 30_000;
/** How many failed calls the record names. */
const MAX_NAMED = 2 * THRESHOLD;
/** A failure kept for people is cut to this. */
const MAX_FAILURE_CHARS = 300;

export interface Breaker {
  readonly agent: string;
  readonly version: number;
  readonly writeId: string;
  /** Failures minus answers, as far as processes have written them. */
  readonly score: number;
  /** The latest failure. */
  readonly failedAt: number;
  readonly failure?: Failure;
  /**
   * The first failure since the latest recorded answer. The breaker may still be closed: a few calls, far
   * apart, never open it.
   */
  readonly failingSince?: number;
  readonly unanswered?: Unanswered;
  readonly bugs?: Bugs;
  /** The latest calls that failed since then, or that count in the score; removed once it has closed. */
  readonly calls?: readonly FailedCall[];
  /** Since when it lets only trials through; absent while it is closed. */
  readonly openedAt?: number;
  /** No calls before this time; then one trial at a time (half-open). */
  readonly openUntil?: number;
  /** How many cooldowns in a row there were; each lasts twice as long as the one before. */
  readonly cooldowns: number;
  /** The trial under way, and until when no other may begin. */
  readonly trial?: string;
  readonly trialUntil?: number;
  readonly closedAt?: number;
  /** Present while an operator keeps the breaker open. */
  readonly pause?: Hold;
  /** The latest pause that is over. */
  readonly lastPause?: EndedHold;
}

/**
 * Until when the breaker defers work; undefined while it is closed. From that time on a trial is possible,
 * which defers all other work.
 */
export function notBeforeOf(breaker: Breaker | undefined, now: number): NotBefore | undefined {
  if (breaker?.pause !== undefined) {
    const { at: since, ...pause } = breaker.pause;
    return { why: 'paused', since, at: now + PAUSED_MS, pause };
  }
  if (breaker?.openedAt === undefined) return undefined;
  const { openedAt: since, openUntil = 0, trialUntil = 0, cooldowns } = breaker;
  // Ignores a time this far ahead: only a process with a wrong clock can have written it.
  const within = (at: number, mostMs: number): number => (at > now + mostMs + CLOCKS_DIFFER_MS ? now : at);
  const at = Math.max(within(openUntil, cooldownMs(cooldowns, 1)), within(trialUntil, MAX_TRIAL_MS), now);
  return { why: 'breaker', since, at };
}

/** What one process writes: failed calls, and calls answered since its last write. */
export interface Calls {
  readonly failed: number;
  readonly answered: number;
  /** When the latest of the answered calls was answered. @default now */
  readonly answeredAt?: number;
  /** When the process's latest call to act was answered. */
  readonly actedAt?: number | undefined;
  readonly failure: Failure;
  readonly calls?: readonly FailedCall[];
}

/** The record before the first failed call. */
export const newBreaker = (agent: string): Breaker => ({
  agent,
  version: 0,
  score: 0,
  failedAt: 0,
  cooldowns: 0,
  writeId: '',
});

/** The record after failed calls; undefined if the breaker is open already, so that they change nothing. */
export function afterCalls(
  breaker: Breaker | undefined,
  agent: string,
  calls: Calls,
  inputs: DecisionInputs,
): Breaker | undefined {
  if (breaker?.openedAt !== undefined || breaker?.pause !== undefined) return undefined;
  const before = breaker ?? newBreaker(agent);
  const recent = inputs.now - before.failedAt < WINDOW_MS;
  const left = Math.max(0, (recent ? before.score : 0) - calls.answered);
  const score = left + calls.failed;
  const { calls: known = [], failingSince, unanswered, ...rest } = before;
  const { answeredAt = inputs.now } = calls;
  // The answers of a process may date from before it knew that calls fail.
  const isSilent = failingSince !== undefined && (calls.answered === 0 || answeredAt < failingSince);
  const goesOn = isSilent || left > 0;
  const added = calls.calls ?? [];
  const failing = [...(goesOn ? known : []), ...added].slice(-MAX_NAMED);
  const next: Breaker = {
    ...rest,
    ...defined({ unanswered: unansweredAfter(unanswered, added, calls.actedAt) }),
    ...(failing.length === 0 ? {} : { calls: failing }),
    version: before.version + 1,
    writeId: inputs.writeId,
    score,
    failedAt: inputs.now,
    failingSince: isSilent ? failingSince : Math.min(inputs.now, ...added.map(({ at }) => at)),
    failure: shortened(calls.failure),
  };
  if (score < THRESHOLD) return next;
  const flapping = before.closedAt !== undefined && inputs.now - before.closedAt < FLAPPING_MS;
  const opened = { ...next, openedAt: inputs.now, cooldowns: flapping ? before.cooldowns : 0 };
  return cooled(opened, inputs);
}

/**
 * The record after calls that were answered while the breaker is closed; undefined if no call has failed
 * before, so that they change nothing.
 * @param answeredAt when the latest was answered; a process that was frozen reports it late
 * @param actedAt when the latest call to act was answered
 */
export function afterAnswers(
  breaker: Breaker | undefined,
  answered: number,
  { now, writeId }: DecisionInputs,
  answeredAt: number = now,
  actedAt?: number,
): Breaker | undefined {
  const { failingSince, unanswered, ...others } = breaker ?? newBreaker('');
  if (others.openedAt !== undefined || others.pause !== undefined) return undefined;
  const isSilent = failingSince === undefined || answeredAt < failingSince;
  const isActing = isAnswered(unanswered, actedAt);
  if (isSilent && !isActing) return undefined;
  const before = isActing ? others : { ...others, ...defined({ unanswered }) };
  if (isSilent) return { ...before, ...defined({ failingSince }), version: before.version + 1, writeId };
  const recent = now - before.failedAt < WINDOW_MS;
  const score = recent ? Math.max(0, before.score - answered) : 0;
  const { calls: _calls, ...rest } = before;
  return { ...(score > 0 ? before : rest), version: before.version + 1, writeId, score };
}

/**
 * The record after attempts that a bug has ended. A bug neither opens nor closes the breaker, and ends no
 * trial.
 */
export const afterBugs = (
  before: Breaker,
  attempts: number,
  failure: Failure,
  { now, writeId }: DecisionInputs,
): Breaker => ({
  ...before,
  version: before.version + 1,
  writeId,
  bugs: bugsAfter(before.bugs, attempts, shortened(failure), now),
});

const shortened = ({ code, message }: Failure): Failure => ({
  code,
  message: cut(message, MAX_FAILURE_CHARS),
});

/** @param count how many cooldowns there were in a row */
function cooldownMs(count: number, random: number): number {
  const plainMs = Math.min(FIRST_COOLDOWN_MS * 2 ** Math.min(count - 1, 30), MAX_COOLDOWN_MS);
  return Math.floor(plainMs * (1 + COOLDOWN_JITTER * random));
}

/** The record with another cooldown. */
function cooled(breaker: Breaker, { now, random }: DecisionInputs): Breaker {
  const cooldowns = breaker.cooldowns + 1;
  const { trial: _trial, trialUntil: _until, ...rest } = breaker;
  return { ...rest, cooldowns, openUntil: now + cooldownMs(cooldowns, random) };
}

/**
 * The record with a trial under way. Of several writers one gets it; that write's id identifies the trial.
 */
export const withTrial = (breaker: Breaker, timeoutMs: number, inputs: DecisionInputs): Breaker => ({
  ...breaker,
  version: breaker.version + 1,
  writeId: inputs.writeId,
  trial: inputs.writeId,
  trialUntil: inputs.now + Math.min(timeoutMs, MAX_TRIAL_MS),
});

/**
 * The record without its cooldown, so that a trial may begin now, as an operator ordered; undefined if no
 * cooldown prevents one.
 */
export const withoutCooldown = (
  breaker: Breaker | undefined,
  { now, writeId }: DecisionInputs,
): Breaker | undefined =>
  breaker?.openedAt === undefined || breaker.pause !== undefined || (breaker.openUntil ?? 0) <= now
    ? undefined
    : { ...breaker, version: breaker.version + 1, writeId, openUntil: now };

/**
 * The outcome of a trial: answered, failed, or 'nothing' if it shows nothing. Then the next call is the
 * trial.
 */
export type TrialOutcome = 'answered' | 'nothing' | Failure;

/** The record after a trial's end; undefined if another trial counts now. */
export function afterTrial(
  breaker: Breaker,
  trial: string,
  outcome: TrialOutcome,
  inputs: DecisionInputs,
): Breaker | undefined {
  if (breaker.openedAt === undefined || breaker.trial !== trial) return undefined;
  const { trial: _trial, trialUntil: _until, ...before } = breaker;
  const next = { ...before, version: breaker.version + 1, writeId: inputs.writeId };
  if (outcome === 'nothing') return next;
  if (outcome !== 'answered') {
    return cooled({ ...next, failedAt: inputs.now, failure: shortened(outcome) }, inputs);
  }
  const { openedAt: _opened, openUntil: _openUntil, calls: _calls, ...closed } = next;
  const { failingSince: _since, unanswered: _unanswered, ...rest } = closed;
  return { ...rest, score: 0, closedAt: inputs.now };
}

/**
 * The evidence of a report about its service: answered, failed, or nothing. A refusal is an answer. A probe
 * that cannot tell is a failure when it asks about an attempt for the first time, and then nothing: otherwise
 * one order that stays unknown would open the breaker and fail each trial. A probe that finds nothing done
 * has read an answer, which shows little about a service that does not act: see `provesNoAction`.
 * @param probes for a probe: how many could not tell before
 */
export function saidOf(report: Report, probes: number): 'answered' | 'found-nothing' | 'failed' | 'nothing' {
  const code = 'failure' in report ? report.failure?.code : undefined;
  if ((code !== undefined && OURS.has(code)) || report.interrupted === true) return 'nothing';
  if (report.kind === 'unknown') return 'failed';
  if (report.kind === 'failed') return report.permanent ? 'answered' : 'failed';
  if (report.kind === 'found' && report.verdict === 'not-done') return 'found-nothing';
  if (report.kind !== 'found' || report.verdict !== 'cannot-tell') return 'answered';
  return probes === 0 || isThrown(report) ? 'failed' : 'nothing';
}

/**
 * True if calls to act are among the failed ones. A probe that finds nothing done is then not an answer: a
 * service may read and not act, and with such a probe after each lost attempt the breaker would never open.
 */
export const provesNoAction = (breaker: Breaker | undefined): boolean =>
  breaker?.calls?.some(({ mode }) => mode !== 'probe') === true;

/** True if an attempt got no answer; false for a probe that cannot tell. */
export function isThrown(report: Report): boolean {
  const code = 'failure' in report ? report.failure?.code : undefined;
  return code !== undefined && code !== CANNOT_TELL && !OURS.has(code);
}

/** Failures that we find before the service is called, or that the agent's code has caused. */
const OURS: ReadonlySet<string> = new Set(['input-refused', 'no-probe', 'no-undo', 'value-lost', BUG]);
