/** An outbox's clock for tests; it records the length of each sleep. */

import type { Clock } from '../../lib/core/ports.ts';

/** A clock that moves only while the outbox sleeps: to the end of the sleep, or as far as the test says. */
export class OutboxClock implements Clock {
  at = Date.parse('2026-11-30T12:00:00Z');
  slept: number[] = [];
  #wake: (() => void) | undefined;
  #asleep: (() => void) | undefined;

  readonly now = (): number => this.at;

  readonly sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const wake = (): void => {
        this.#wake = undefined;
        resolve();
      };
      signal?.addEventListener('abort', wake);
      this.slept.push(ms);
      this.#wake = () => {
        this.at += Math.max(0, ms);
        wake();
      };
      this.#asleep?.();
    });

  /** The length of the current sleep. */
  get sleeping(): number | undefined {
    return this.#wake === undefined ? undefined : this.slept.at(-1);
  }

  async asleep(): Promise<void> {
    if (this.#wake === undefined) await new Promise<void>((there) => (this.#asleep = there));
  }

  async pass(): Promise<void> {
    await this.asleep();
    this.#wake?.();
  }
}
