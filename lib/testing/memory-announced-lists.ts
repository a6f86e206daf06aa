/** Which lists have announced a question, in memory, with the condition of the real ones. */

import type { AnnouncedLists } from '../core/ports.ts';
import type { AnnouncedList } from '../core/records/announced-list.ts';
import { memoryRecords } from './memory-records.ts';

export const memoryAnnouncedLists = (): AnnouncedLists => memoryRecords<AnnouncedList>(({ list }) => list);
