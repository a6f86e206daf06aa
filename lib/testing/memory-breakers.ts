/** The breakers in memory, with the condition of the real ones. */

import type { Breaker } from '../core/step/breaker.ts';
import type { Breakers } from '../core/ports.ts';
import { memoryRecords } from './memory-records.ts';

export const memoryBreakers = (): Breakers => memoryRecords<Breaker>(({ agent }) => agent);
