/**
 * The time of a server whose machine's clock may be set: it never goes back.
 *
 * Owns: how far this time is ahead of the machine's, and the news that the clock was set. Does not own: who
 * sleeps (`ending-clock.ts`), schedules, which go by the machine's clock (`schedules.ts`).
 *
 * All instants in the file are of this time, so a clock that is set back moves none of them away: what waits
 * for ten minutes waits for ten minutes. The time goes on from where it was, and comes near the machine's
 * again by going a little slower. A clock that is set forward, or a machine that slept, is followed at once:
 * the time has passed, as it does for a server that was off. Between two runs the file knows the time that
 * the last one had (`latest-time.ts`).
 */

import { MACHINE, type MachineTime } from '../lib/aws/clock.ts';

/** Less is no news: the two are read one after the other, and are corrected in small steps. */
export const JUMP_MS = 500;
/** The part of each ms that passes by which a time that is ahead comes near the machine's. */
const CATCH_UP = 0.05;

/** The words of a jump. @param byMs below zero: it was set back */
export function jumpText(byMs: number): string {
  const [how, then] = byMs < 0 ? ['back', 'times go on'] : ['forward', 'the time between has passed'];
  return `the machine's clock was set ${how}, or it slept: ${then}`;
}

export class SteadyTime {
  readonly #machine: MachineTime;
  /** @param byMs below zero: it was set back; @param skippedMs how much of this time was skipped */
  readonly #onJump: (byMs: number, skippedMs: number) => void;
  #latest = Number.NEGATIVE_INFINITY;
  #elapsed: number;
  /** The machine's time when `elapsed` was nought. */
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
   * @param at the time of the process before this one, whose instants are in the file
   * @returns how much later it is now: what was off, and a clock that was set meanwhile, are the same here
   */
  goOnFrom(at: number): number {
    const byMs = this.now() - at;
    if (byMs > -JUMP_MS) return Math.max(0, byMs);
    this.#aheadMs -= byMs;
    this.#onJump(Math.round(byMs), 0);
    return 0;
  }

  /** How far it is ahead of the machine's clock. */
  get aheadMs(): number {
    return Math.round(this.#aheadMs);
  }
}
