/**
 * The clock port of a process: this machine's time.
 *
 * Owns: sleeping, and being woken. Does not own: when anything happens; no decision
 * reads it, each is handed the time.
 */

import type { Clock } from '../core/ports.ts';

export const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.max(0, ms));
      signal?.addEventListener('abort', end);
    }),
};
