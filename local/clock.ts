/** Time as a parameter, so that queues and schedules are tested without waiting. */

/** The time and its timers. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls back once after the delay; the answer cancels it. */
  setTimer(delayMs: number, callback: () => void): () => void;
}

/** The longest delay of `setTimeout`, which fires at once for a longer one. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's clock. Its timers keep the process alive, as the cloud's servers do anyway. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
