/** The breakers in memory, with the condition of the real ones. */

import type { Breaker } from '../core/step/breaker.ts';
import type { Breakers } from '../core/ports.ts';

export function memoryBreakers(): Breakers {
  const stored = new Map<string, Breaker>();
  return {
    read: async (agent) => stored.get(agent),
    write: async (breaker) => {
      const before = stored.get(breaker.agent);
      const follows = (before?.version ?? 0) === breaker.version - 1 || before?.writeId === breaker.writeId;
      if (!follows) return 'conflict';
      stored.set(breaker.agent, breaker);
      return 'written';
    },
  };
}
