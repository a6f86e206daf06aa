/**
 * Time that passed on the clock and for no attempt: the clock was set forward, or all processes stood still.
 *
 * Owns: its shape, and how much of a time it is. Does not own: how it is noticed (`supervisor/outage.ts`),
 * what it lengthens (`step/lease.ts`): an attempt's own time, no time that a workflow waits.
 */

export interface Away {
  /** Epoch ms. */
  readonly untilAt: number;
  readonly ms: number;
}

/** So much of the time since then. */
export const awayMs = (away: readonly Away[] | undefined, since: number): number =>
  away?.reduce((sum, { untilAt, ms }) => (since < untilAt ? sum + ms : sum), 0) ?? 0;
