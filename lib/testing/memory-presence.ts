/** The presence in memory, with the condition of the real one, and the calls in the open. */

import type { Presences, WakeUps } from '../core/ports.ts';
import type { Presence } from '../core/supervision/presence.ts';
import { memoryRecords } from './memory-records.ts';

export function memoryPresences(): Presences {
  const { read, write } = memoryRecords<Presence>(() => '');
  return { read: async () => read(''), write };
}

/** As one process has them; `presences` may be shared with others. */
export const memoryWakeUps = (
  presences: Presences,
  call: (presence: Presence) => Promise<void>,
): WakeUps => ({ ...presences, call, known: { untilAt: 0 } });
