/**
 * The clock port of a process: the store's time, as near as this process can tell.
 *
 * Owns: what happens when the machine's clock is set or wrong; sleeping, and being woken. Does not own: when
 * anything happens (decisions are given the time), or whether a clock is wrong (`clock-skew.ts` compares it
 * with the store's answers).
 *
 * During an invocation it runs evenly, even if the machine's clock is set. Between two invocations the
 * process may have been frozen, so it follows a step forward, but only when the next one begins.
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
 * A step back smaller than this is a misreading, not a set clock; so is the step forward that corrects it.
 */
const SET_BACK_MS = 1_000;

/** The machine's time when `elapsed` was zero lies between these two. */
interface WallOrigin {
  readonly from: number;
  readonly to: number;
}

/**
 * Two bounds, because the time of day is cut off to whole ms and a process may stand still between readings.
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
   * Call when an invocation begins: the process may have been frozen since the last one. It follows only a
   * step that is certain. Adding up the differences between readings would make this clock seconds fast.
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
   * How often this clock has followed a step of the machine's clock. After such a step, compare it with the
   * store's again: the step may have corrected the difference.
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
