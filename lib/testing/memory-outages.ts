/** The records of openings in memory, with the condition of the real ones. */

import type { Outages } from '../core/ports.ts';
import type { Outage } from '../core/step/outage.ts';
import { memoryRecords } from './memory-records.ts';

export function memoryOutages(): Outages {
  const records = memoryRecords<Outage>(({ agent, openedAt }) => `${agent} ${openedAt}`);
  return { read: async (agent, openedAt) => records.read(`${agent} ${openedAt}`), write: records.write };
}
