/**
 * The record that each opening of a breaker leaves: when its service began to fail, when that was noticed,
 * when it was back, and which calls failed meanwhile.
 *
 * Owns: its shape and how it grows, and what became of a call whose outcome was unknown. Does not own: the
 * breaker (`breaker.ts`), who writes it (`agent/outage-book.ts`).
 *
 * It is for people: nothing is decided by it, and one that could not be written is missing. A step that was
 * only deferred is not in it: it was not called, so nothing of it can be doubled or lost.
 */

import type { DecisionInputs } from '../decisions/change.ts';
import type { Failure } from '../values/failure.ts';
import { type Snapshot, incidentsIn } from '../records/snapshot.ts';
import type { Attempt } from '../records/state.ts';

/** Calls that are named; of more only the number is kept. */
export const MAX_CALLS = 50;
/** Openings of one agent's breaker that are remembered, the latest. */
export const MAX_OPENINGS = 20;

/** An attempt whose call failed. */
export interface FailedCall {
  readonly executionId: string;
  readonly step: string;
  readonly attempt: number;
  readonly mode: Attempt['mode'];
  readonly at: number;
  /**
   * What the attempt did is not known by it: an attempt to execute, or a probe
   * that found nothing out about one.
   */
  readonly unknown?: true;
}

export interface Outage {
  readonly agent: string;
  readonly version: number;
  readonly writeId: string;
  /** The first failure since the latest answer, or of those that opened it. */
  readonly beganAt: number;
  /** When the breaker opened. */
  readonly openedAt: number;
  readonly failure: Failure;
  /** The first ones. */
  readonly calls: readonly FailedCall[];
  /** How many failed, as far as processes have written them. */
  readonly failed: number;
  /** When a trial was answered; absent while it is open. */
  readonly closedAt?: number;
}

/** The calls to add to it. */
export interface Addition {
  readonly calls: readonly FailedCall[];
  readonly closedAt?: number;
}

/** What there is to say of an opening. */
export interface Opening {
  readonly at: number;
  /** Since when its calls have failed without an answer. */
  readonly since: number;
  readonly failure: Failure;
  /** The calls that failed before it, and the one that opened it. */
  readonly calls: readonly FailedCall[];
  /** How many there were. @default all are named */
  readonly failed: number | undefined;
}

/** The record of an opening. */
export const outageBegun = (
  agent: string,
  { at: openedAt, since, failure, calls, failed = calls.length }: Opening,
  { writeId }: DecisionInputs,
): Outage => ({
  agent,
  version: 1,
  writeId,
  beganAt: Math.min(openedAt, since, ...calls.map(({ at }) => at)),
  openedAt,
  failure,
  calls: calls.slice(0, MAX_CALLS),
  failed,
});

/** With each attempt of unknown outcome named as such once: a failed probe is about the same one. */
export function unknownOnce(calls: readonly FailedCall[]): readonly FailedCall[] {
  const seen = new Set<string>();
  return calls.map((call) => {
    const { unknown, ...rest } = call;
    if (unknown !== true) return call;
    const attempt = `${call.executionId} ${call.step} ${call.attempt}`;
    if (seen.has(attempt)) return rest;
    seen.add(attempt);
    return call;
  });
}

export const outageAfter = (
  before: Outage,
  { calls, closedAt }: Addition,
  { writeId }: DecisionInputs,
): Outage => ({
  ...before,
  version: before.version + 1,
  writeId,
  calls: [...before.calls, ...calls].slice(0, MAX_CALLS),
  failed: before.failed + calls.length,
  ...(closedAt === undefined ? {} : { closedAt }),
});

/**
 * What became of an attempt to execute whose outcome was unknown.
 * - `done`: it had been done: a probe found it, or it answered late
 * - `not-done`: a probe found that it was not done
 * - `repeated`: another attempt under the same effect key, which the service knows
 * - `undone`: what it may have done was taken back
 * - `person`: a person, or the default of a question, decided it
 * - `open`: it is still unknown
 * - `gone`: its execution is no longer there, or its history no longer goes back so far
 */
export type KnownOutcome = 'done' | 'not-done' | 'repeated' | 'undone' | 'person' | 'open' | 'gone';

/** @param state its execution, as it is now */
export function knownOutcome(call: FailedCall, state: Snapshot | undefined): KnownOutcome {
  const record = state?.steps[call.step];
  const attempts = record?.attempts ?? [];
  const place = attempts.findIndex(({ mode, number }) => mode === 'execute' && number === call.attempt);
  const acted = attempts[place];
  if (record === undefined || acted === undefined) return 'gone';
  for (const later of attempts.slice(place + 1)) {
    const settled = settledBy(later, acted);
    if (settled !== undefined) return settled;
  }
  if (record.attempt > acted.number && record.key === (acted.key ?? 1)) return 'repeated';
  const isAnswered = incidentsIn(state ?? {}).some(
    ({ step, openedAt, choice }) => step === call.step && openedAt >= call.at && choice !== undefined,
  );
  if (isAnswered) return 'person';
  return record.status === 'done' ? 'done' : 'open';
}

function settledBy({ mode, outcome, number, key = 1 }: Attempt, acted: Attempt): KnownOutcome | undefined {
  if (mode === 'probe' && outcome === 'done') return 'done';
  if (mode === 'probe' && outcome === 'not-done') return 'not-done';
  if (mode === 'undo' && outcome === 'compensated') return 'undone';
  return mode === 'execute' && number > acted.number && key === (acted.key ?? 1) ? 'repeated' : undefined;
}
