/**
 * The parts of a world outside its processes: store, queues, event bus. Owns: the type. Does not own: how a
 * process reaches it (`process.ts`), how it is made (`world.ts`).
 */

import type { Breakers, Presences, RandomSource, Rates } from '../../lib/core/ports.ts';
import type { Note, Send } from '../../lib/core/decisions/decision.ts';
import type { Presence } from '../../lib/core/supervision/presence.ts';
import type { MemoryLanes } from '../../lib/memory/lanes.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';
import type { FileStore } from './file-store.ts';
import type { WorldValues } from './values.ts';
import type { OwedNews } from '../../lib/core/decisions/news.ts';

/** The store in memory; it answers at once, by the world's clock. */
export interface External {
  readonly table: MemoryTable;
  /** In a world over a file, the store that answers the roles instead. */
  readonly file?: FileStore;
  /** Present in a world whose values are stored outside the table. */
  readonly values?: WorldValues;
  readonly breakers: Breakers;
  readonly rates: Rates;
  readonly presences: Presences;
  readonly lanes: MemoryLanes;
  /** Starts a supervisor, or none, or two. */
  readonly wake: (presence: Presence) => void;
  readonly send: (sends: readonly Send[]) => void;
  readonly announce: (news: OwedNews) => void;
  readonly random: RandomSource;
  readonly note: (note: Note) => void;
}
