/** The breakers in memory, and the records of their openings, with the conditions of the real ones. */

import type { Breakers, Outages } from '../core/ports.ts';
import type { Breaker } from '../core/step/breaker.ts';
import type { Outage } from '../core/step/outage.ts';
import { memoryRecords } from './memory-records.ts';

export const memoryBreakers = (): Breakers => memoryRecords<Breaker>(({ agent }) => agent);

export function memoryOutages(): Outages {
  const records = memoryRecords<Outage>(({ agent, openedAt }) => `${agent} ${openedAt}`);
  return { read: async (agent, openedAt) => records.read(`${agent} ${openedAt}`), write: records.write };
}
