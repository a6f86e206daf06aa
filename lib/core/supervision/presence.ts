/**
 * Presence: until when a supervisor is certainly at work.
 *
 * Owns: its shape, and which writes need one. Does not own: who promises it (`supervisor/stay.ts`), calling a
 * supervisor if there is none (`engine/wake-up.ts`).
 *
 * L2 ticks come once a minute, and one that finds nothing due before the next ends at once: a wake time
 * written just after that would be met up to a minute late. The next tick sees every later wake time.
 */

/** One record for all shards: a supervisor that stays sweeps its own and visits the others. */
export interface Presence {
  readonly version: number;
  readonly writeId: string;
  /** Writes before this time are seen by a supervisor that sweeps, or by the tick after it. */
  readonly untilAt: number;
}

/** The time between two ticks of the supervisors' schedule, the shortest that EventBridge has. */
export const TICK_MS = 60_000;

/**
 * True if a write leaves work that no tick sees in time.
 * @param wakeAt as written
 * @param beforeAt before the write; undefined if there was no record
 */
export const needsPresence = (
  wakeAt: number | undefined,
  beforeAt: number | undefined,
  now: number,
): boolean =>
  wakeAt !== undefined && wakeAt < now + TICK_MS && wakeAt < (beforeAt ?? Number.POSITIVE_INFINITY);

/**
 * True if a supervisor is certainly at work. A promise of more than two ticks is ignored: only a process with
 * a wrong clock can have made it.
 */
export const isPromised = (untilAt: number, now: number): boolean =>
  untilAt > now && untilAt <= now + 2 * TICK_MS;

/** The record's next version. */
export const presenceAfter = (
  { version }: Pick<Presence, 'version'>,
  writeId: string,
  untilAt: number,
): Presence => ({ version: version + 1, writeId, untilAt });
