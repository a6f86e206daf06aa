/**
 * The supervisor's clock in a process that it shares with authors' code: it stops while that code blocks the
 * event loop.
 *
 * Owns: how far it is behind, how long it has run, and the report of a block. Does not own: which step blocks
 * (`blocked.ts`), how a supervisor uses the time.
 *
 * A step that computes for ten seconds delays every heartbeat of this process. No attempt is dead because of
 * that, and the supervisor runs in the same loop: with the machine's time, it might read a lease as ended
 * before the heartbeat behind it could be written. So its time is the time of three turns of the loop ago,
 * one every 50 ms. After a block it continues only once the loop has turned three times, and due heartbeats
 * are written. A clock that is behind ends no lease early.
 */

import type { Clock } from '../lib/core/ports.ts';

export const TURN_MS = 50;
/** The length of a block at which some heartbeats of short leases come late. */
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

  /** Run time in ms: between two turns, it counts no more than a merely busy loop may take. */
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
