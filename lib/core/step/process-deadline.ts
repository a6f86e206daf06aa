/**
 * When the processes of a step's attempts are certainly dead, with each attempt's share; and when accepted
 * work that cannot be stopped is given up.
 *
 * Owns: the share that a claim adds, and that the end of an attempt's code, or the death of its process,
 * removes. Does not own: which effects are possible until then, and which work waits for it (`effect.ts`).
 *
 * S10 several attempts of a step may be alive at the same time: a lost one, and the next. The end of one
 * lowers only its own share.
 */

import type { StepChanges } from '../decisions/change.ts';
import type { StepLimits } from '../plan/plan.ts';
import { defined } from '../values/defined.ts';
import type { Accepted, ProcessOfAttempt, Step } from '../records/state.ts';

/**
 * Two clocks, each 2 s wrong: a process that checks if another is certainly dead may have the faster one (S6,
 * S10).
 */
export const CLOCKS_DIFFER_MS = 4_000;

/**
 * If there are more shares, the earliest are merged into one that lasts as long as the longest of them and is
 * never lowered.
 */
const MOST_APART = 4;

type Deadlines = Pick<Step, 'processDeadlineAt' | 'processes'>;

/** The time from which no attempt acts: all processes are dead, and what they had sent has arrived. */
export const settlesAt = (
  { settleMs }: Pick<StepLimits, 'settleMs'>,
  { processDeadlineAt }: Pick<Step, 'processDeadlineAt'>,
): number => processDeadlineAt + settleMs;

/** The token of the latest attempt that may act; a probe does not. */
const latestToken = ({ mode, token, actedToken }: Step): string | undefined =>
  mode === 'probe' ? actedToken : token;

const processesOf = (record: Step): readonly ProcessOfAttempt[] =>
  record.processes ?? [{ ...defined({ token: latestToken(record) }), deadlineAt: record.processDeadlineAt }];

const latestOf = (processes: readonly ProcessOfAttempt[]): number =>
  Math.max(0, ...processes.map(({ deadlineAt }) => deadlineAt));

/** @param deadlineAt of the claiming process, by its own clock */
export function withProcess(before: Step, token: string, deadlineAt: number, now: number): StepChanges {
  const own = { token, deadlineAt: deadlineAt + CLOCKS_DIFFER_MS };
  // Drops shares that are over by this process's clock: the same clock later says when the attempt's code has
  // returned.
  const others = processesOf(before).filter((one) => one.deadlineAt > now);
  // A healthy step has only this share, so its record stays small.
  if (others.length === 0) return { processDeadlineAt: own.deadlineAt, ...noneIn(before) };
  const joined = others.slice(0, Math.max(0, others.length - MOST_APART + 2));
  const apart = others.slice(joined.length);
  const processes = [...(joined.length > 1 ? [{ deadlineAt: latestOf(joined) }] : joined), ...apart, own];
  return { processDeadlineAt: latestOf(processes), processes };
}

const noneIn = ({ processes }: Step): StepChanges =>
  processes === undefined ? {} : { processes: undefined };

/**
 * Lowers the attempt's share: it is over at `untilAt`.
 * @returns undefined if that is known, or if the attempt has no share of its own
 */
export function lowered(record: Step, token: string, untilAt: number): Deadlines | undefined {
  const known = processesOf(record);
  const own = known.find((one) => one.token === token);
  if (own === undefined || own.deadlineAt <= untilAt) return undefined;
  const processes = known.map((one) => (one === own ? { ...one, deadlineAt: untilAt } : one));
  const processDeadlineAt = latestOf(processes);
  return record.processes === undefined ? { processDeadlineAt } : { processDeadlineAt, processes };
}

/**
 * Moves the process deadline by the time for which the attempt was away, because it goes on for that much
 * longer.
 */
export function withLater<Record extends Step>(record: Record, ms: number): Record {
  if (ms === 0) return record;
  const { processDeadlineAt, processes } = record;
  const all = processes?.map((one) => ({ ...one, deadlineAt: one.deadlineAt + ms }));
  return { ...record, processDeadlineAt: processDeadlineAt + ms, ...defined({ processes: all }) };
}

/** How long the last probes of accepted work may continue after the end of its time. */
const LAST_PROBES_MS = 600_000;

/** L1 The time at which accepted work that cannot be stopped is given up, even if no probe could be made. */
export const givenUpAt = ({ untilAt }: Accepted): number => untilAt + LAST_PROBES_MS;
