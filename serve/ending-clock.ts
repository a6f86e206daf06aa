/**
 * The clock of a server's roles, stopped when the server ends.
 *
 * Owns: never ending a sleep after the server has ended, so that an abandoned attempt does nothing more and
 * does not keep the process alive. Does not own: the time.
 */

import type { Clock } from '../lib/core/ports.ts';

export class EndingClock implements Clock {
  readonly #timers = new Set<NodeJS.Timeout>();
  #isOver = false;
  readonly now: Clock['now'];
  readonly aheadMs: () => number;

  constructor(now: Clock['now'], aheadMs: () => number) {
    this.now = now;
    this.aheadMs = aheadMs;
  }

  readonly sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (this.#isOver) return;
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        this.#timers.delete(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.max(0, ms));
      this.#timers.add(timer);
      signal?.addEventListener('abort', end);
    });

  end(): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
