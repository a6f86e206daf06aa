/**
 * The time of a server. It never goes back, even if the machine's clock is set back.
 *
 * Owns: how far this time is ahead of the machine's, and the report that the clock was set. Does not own:
 * sleeping (`ending-clock.ts`). Schedules use the machine's clock (`schedules.ts`).
 *
 * All instants in the file are in this time, so a wait of ten minutes lasts ten minutes even if the clock is
 * set back meanwhile. After that, this time runs a little slower until the machine's has caught up. If the
 * clock is set forward, or the machine slept, this time follows at once, as after a server was off. Between
 * two runs the file keeps the last run's time (`latest-time.ts`).
 */

import { MACHINE, type MachineTime } from '../lib/aws/clock.ts';

/**
 * Smaller jumps are not reported: the two clocks are read one after the other, and are corrected in small
 * steps.
 */
export const JUMP_MS = 500;
/** How much slower a time that is ahead runs, as a fraction: a wait of an hour lasts 18 s more. */
const CATCH_UP = 0.005;

/** Describes a jump in words. @param byMs below zero: the clock was set back */
export function jumpText(byMs: number): string {
  const [how, then] = byMs < 0 ? ['back', 'times go on'] : ['forward', 'the time between has passed'];
  return `the machine's clock was set ${how}, or it slept: ${then}`;
}

export class SteadyTime {
  readonly #machine: MachineTime;
  /** @param byMs below zero: the clock was set back; @param skippedMs how much of this time was skipped */
  readonly #onJump: (byMs: number, skippedMs: number) => void;
  #latest = Number.NEGATIVE_INFINITY;
  #elapsed: number;
  /** The machine's time when `elapsed` was zero. */
  #origin: number;
  #aheadMs = 0;

  constructor(onJump: (byMs: number, skippedMs: number) => void, machine: MachineTime = MACHINE) {
    this.#onJump = onJump;
    this.#machine = machine;
    this.#elapsed = machine.elapsed();
    this.#origin = machine.wall() - this.#elapsed;
  }

  readonly now = (): number => {
    const elapsed = this.#machine.elapsed();
    const wall = this.#machine.wall();
    const byMs = wall - elapsed - this.#origin;
    this.#origin += byMs;
    this.#aheadMs -= Math.min(this.#aheadMs, (elapsed - this.#elapsed) * CATCH_UP);
    this.#elapsed = elapsed;
    const isJump = Math.abs(byMs) >= JUMP_MS;
    const skippedMs = Math.max(0, byMs - this.#aheadMs);
    if (isJump) this.#aheadMs = Math.max(0, this.#aheadMs - byMs);
    this.#latest = Math.max(this.#latest, Math.floor(wall + this.#aheadMs));
    if (isJump) this.#onJump(Math.round(byMs), Math.round(skippedMs));
    return this.#latest;
  };

  /**
   * @param at the previous process's time, from its file: this time continues from there
   * @returns how much later it is now, because the server was off or the clock was set
   */
  goOnFrom(at: number): number {
    const byMs = this.now() - at;
    if (byMs > -JUMP_MS) return Math.max(0, byMs);
    this.#aheadMs -= byMs;
    this.#onJump(Math.round(byMs), 0);
    return 0;
  }

  /** How far this time is ahead of the machine's clock. */
  get aheadMs(): number {
    return Math.round(this.#aheadMs);
  }
}
