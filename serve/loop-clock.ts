/**
 * The supervisor's clock in a process that it shares with authors' code: it stands still while that
 * code blocks the event loop.
 *
 * Owns: how far it is behind, how long it has run, and the news of a block. Does not own: which step blocks
 * (`blocked.ts`), what a supervisor does with the time.
 *
 * A step that computes for ten seconds keeps every heartbeat of this process from being written. No attempt
 * is dead for that, and the supervisor runs in the same loop: were its time the machine's, it might read a
 * lease as over before the heartbeat behind it could be written. So its time is the one of three turns of the
 * loop ago, one every 50 ms. After a block it goes on only once the loop has gone round three times, and
 * heartbeats that were due are written. A clock that is behind ends no lease early.
 */

import type { Clock } from '../lib/core/ports.ts';

export const TURN_MS = 50;
/** The length of a block: some heartbeats of short leases come late. */
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

  /** Ms: of what passes between two turns, no more than a loop may take that is merely busy. */
  readonly ran = (): number => this.#ranMs;

  readonly now = (): number => Math.min(this.#turns[0] ?? 0, this.#clock.now());

  start(): void {
    this.#timer = setInterval(() => this.turn(), TURN_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The loop has gone round. */
  turn(): void {
    const elapsed = this.#elapsed();
    const lateMs = elapsed - this.#turnedAt - TURN_MS;
    this.#ranMs += Math.min(elapsed - this.#turnedAt, BLOCKED_MS);
    this.#turnedAt = elapsed;
    this.#turns = [...this.#turns.slice(1), this.#clock.now()];
    if (lateMs >= BLOCKED_MS) this.#onBlocked(Math.round(lateMs));
  }
}
