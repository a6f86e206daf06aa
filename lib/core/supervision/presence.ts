/**
 * Presence: until when a supervisor is certainly at work.
 *
 * Owns: its shape, and which writes need one. Does not own: who promises it (`supervisor/stay.ts`), who calls
 * a supervisor because there is none (`engine/wake-up.ts`).
 *
 * L2 ticks come once a minute, and one that finds nothing due before the next ends at once: a wake time that
 * is written just after it would be met up to a minute late. The next tick sees every later wake time.
 */

/** One record for all shards: a supervisor that stays sweeps its own and visits the others. */
export interface Presence {
  readonly version: number;
  readonly writeId: string;
  /** A write before this time is seen by a supervisor that sweeps, or by the tick that follows it. */
  readonly untilAt: number;
}

/** The time between two ticks of the supervisors' schedule, the shortest that EventBridge has. */
export const TICK_MS = 60_000;

/**
 * Whether a write leaves work that no tick sees in time.
 * @param wakeAt as written
 * @param beforeAt before the write; nothing if there was no record
 */
export const needsPresence = (
  wakeAt: number | undefined,
  beforeAt: number | undefined,
  now: number,
): boolean =>
  wakeAt !== undefined && wakeAt < now + TICK_MS && wakeAt < (beforeAt ?? Number.POSITIVE_INFINITY);

/**
 * Whether a supervisor is certainly at work. No right clock promises more time: a clock that was ahead has,
 * and supervisors are called as if it had promised nothing.
 */
export const isPromised = (untilAt: number, now: number): boolean =>
  untilAt > now && untilAt <= now + 2 * TICK_MS;

/** The record's next version. */
export const presenceAfter = (
  { version }: Pick<Presence, 'version'>,
  writeId: string,
  untilAt: number,
): Presence => ({ version: version + 1, writeId, untilAt });
