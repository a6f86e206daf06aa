/**
 * Time that passed on the clock but not for attempts: the clock was set forward, or all processes were
 * stopped.
 *
 * Owns: its shape, and how much of a span it covers. Does not own: noticing it (`supervisor/outage.ts`), the
 * times that it extends (`step/lease.ts`): only an attempt's own time, never a time that a workflow waits.
 */

export interface Away {
  /** Epoch ms. */
  readonly untilAt: number;
  readonly ms: number;
}

/** How much of the time since then was away. */
export const awayMs = (away: readonly Away[] | undefined, since: number): number =>
  away?.reduce((sum, { untilAt, ms }) => (since < untilAt ? sum + ms : sum), 0) ?? 0;
