/** The open waits in memory, with the condition of the real ones. */

import type { Waits } from '../core/ports.ts';
import type { OpenWaits } from '../core/records/open-waits.ts';
import { memoryRecords } from './memory-records.ts';

export function memoryWaits(): Waits {
  const { read, write } = memoryRecords<OpenWaits>(() => '');
  return { read: async () => read(''), write };
}
