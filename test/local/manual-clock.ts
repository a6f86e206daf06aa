/** A clock that the test moves. */
import type { Clock } from '../../local/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class ManualClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(startAt = 1_700_000_000_000) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves time on, firing due timers in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
  }
}
