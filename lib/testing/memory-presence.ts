/** The presence in memory, with the condition of the real one, and the calls in the open. */

import type { Presences, WakeUps } from '../core/ports.ts';
import type { Presence } from '../core/supervision/presence.ts';

export function memoryPresences(): Presences {
  let stored: Presence | undefined;
  return {
    read: async () => stored,
    write: async (presence) => {
      const follows = (stored?.version ?? 0) === presence.version - 1 || stored?.writeId === presence.writeId;
      if (!follows) return 'conflict';
      stored = presence;
      return 'written';
    },
  };
}

/** As one process has them; `presences` may be shared with others. */
export const memoryWakeUps = (
  presences: Presences,
  call: (presence: Presence) => Promise<void>,
): WakeUps => ({ ...presences, call, known: { untilAt: 0 } });
