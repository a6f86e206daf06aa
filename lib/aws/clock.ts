/**
 * The clock port of a process: the store's time, as near as this process can tell.
 *
 * Owns: how it reacts if a machine's clock is set, or wrong; sleeping, and being woken. Does not own: when
 * anything happens: decisions do not read it, they are handed the time. Nor does it decide whether a clock is
 * wrong: the store's answers say that (`clock-skew.ts`).
 *
 * During an invocation it runs evenly, however the machine's clock is set. Between two invocations the
 * process may have been frozen, so it follows only a step forward, and only at the beginning of the next one.
 */

import type { Clock } from '../core/ports.ts';

/** A machine's readings: the time of day, and how long it has run. */
export interface MachineTime {
  /** Epoch ms; may be set. */
  readonly wall: () => number;
  /** Ms since some moment; runs evenly. */
  readonly elapsed: () => number;
}

export const MACHINE: MachineTime = { wall: () => Date.now(), elapsed: () => performance.now() };

/**
 * A clock that goes back by less than this was misread, not set: its way forward again does not count as a
 * step.
 */
const SET_BACK_MS = 1_000;

/** The machine's time when `elapsed` was zero lies between these two. */
interface WallOrigin {
  readonly from: number;
  readonly to: number;
}

/**
 * Bounds it, because the time of day is in whole ms, cut off, and a process may stand still between two
 * readings.
 */
function wallOriginOf({ wall, elapsed }: MachineTime): WallOrigin {
  const before = elapsed();
  const at = wall();
  return { from: at - elapsed(), to: at + 1 - before };
}

export class ProcessClock implements Clock {
  readonly #machine: MachineTime;
  /** This clock's time, and the machine's, when `elapsed` was zero. */
  #origin: number;
  #wallOrigin: WallOrigin;
  #steps = 0;

  constructor(machine: MachineTime = MACHINE) {
    this.#machine = machine;
    this.#wallOrigin = wallOriginOf(machine);
    this.#origin = this.#wallOrigin.from;
  }

  readonly now = (): number => Math.round(this.#origin + this.#machine.elapsed());

  /**
   * Call this when an invocation begins: the process may have been frozen since the last one. Only a certain
   * step counts: if the difference between two readings were added at each invocation, this clock would run
   * seconds ahead.
   */
  readonly resume = (): void => {
    const read = wallOriginOf(this.#machine);
    const isForward = read.from > this.#wallOrigin.to;
    if (isForward) {
      this.#origin += read.from - this.#wallOrigin.from;
      this.#steps += 1;
    }
    if (isForward || read.to < this.#wallOrigin.from - SET_BACK_MS) this.#wallOrigin = read;
  };

  /**
   * How often this clock has followed the machine's: each time the machine's clock may only have been
   * corrected.
   */
  readonly steps = (): number => this.#steps;

  /** @param byMs how far this clock is behind the store's; below zero: ahead of it */
  readonly correct = (byMs: number): void => {
    this.#origin += byMs;
  };

  readonly sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.max(0, ms));
      signal?.addEventListener('abort', end);
    });
}

export const clock = new ProcessClock();
