/** A clock as a parameter, so that tests of queues and schedules need not wait. */

/** The time and its timers. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls back once after the delay. @returns the function that cancels it */
  setTimer(delayMs: number, callback: () => void): () => void;
}

/** The longest delay of `setTimeout`; with a longer one it fires at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's clock. Its timers keep the process alive, as the cloud's servers do. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
