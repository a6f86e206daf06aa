/**
 * The supervisor's clock in a process that it shares with authors' code: it stops while that code blocks the
 * event loop.
 *
 * Owns: how far the clock is behind, the run time of the loop, and the report of a block. Does not own: which
 * step blocks (`blocked.ts`), how a supervisor uses the time.
 *
 * A step that computes for ten seconds delays every heartbeat of this process. Its attempts are not dead, but
 * by the machine's time the supervisor, in the same loop, might find a lease expired before the delayed
 * heartbeat is written. So its time is that of three turns ago (one every 50 ms). After a block
 * the clock stands until the loop has turned three times; by then, due heartbeats are written. A clock that
 * is behind never ends a lease early.
 */

import type { Clock } from '../lib/core/ports.ts';

export const TURN_MS = 50;
/** A block of this length delays heartbeats of short leases. */
export const BLOCKED_MS = 1_000;
const TURNS = 3;

export class LoopClock implements Clock {
  readonly sleep: Clock['sleep'];
  readonly #clock: Clock;
  readonly #onBlocked: (ms: number) => void;
  readonly #elapsed: () => number;
  #turns: readonly number[];
  #turnedAt: number;
  #ranMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param elapsed ms that have passed, however the clock is set */
  constructor(clock: Clock, onBlocked: (ms: number) => void, elapsed: () => number) {
    this.#clock = clock;
    this.#onBlocked = onBlocked;
    this.#elapsed = elapsed;
    this.#turnedAt = elapsed();
    this.sleep = (ms, signal) => clock.sleep(ms, signal);
    this.#turns = Array.from({ length: TURNS }, () => clock.now());
  }

  /** Run time in ms. Each turn counts at most `BLOCKED_MS`, so that a sleep of the machine does not count. */
  readonly ran = (): number => this.#ranMs;

  readonly now = (): number => Math.min(this.#turns[0] ?? 0, this.#clock.now());

  start(): void {
    this.#timer = setInterval(() => this.turn(), TURN_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Called at each turn of the loop. */
  turn(): void {
    const elapsed = this.#elapsed();
    const lateMs = elapsed - this.#turnedAt - TURN_MS;
    this.#ranMs += Math.min(elapsed - this.#turnedAt, BLOCKED_MS);
    this.#turnedAt = elapsed;
    this.#turns = [...this.#turns.slice(1), this.#clock.now()];
    if (lateMs >= BLOCKED_MS) this.#onBlocked(Math.round(lateMs));
  }
}
