/**
 * Everything outside the processes of a world: its store, its queues, its event bus.
 *
 * Owns: the shape. Does not own: how a process reaches it (`process.ts`), how it is made (`world.ts`).
 */

import type { Breakers, Presences, RandomSource, Rates } from '../../lib/core/ports.ts';
import type { Note, Send } from '../../lib/core/decisions/decision.ts';
import type { Presence } from '../../lib/core/supervision/presence.ts';
import type { MemoryLanes } from '../../lib/memory/lanes.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';
import type { FileStore } from './file-store.ts';
import type { WorldValues } from './values.ts';
import type { OwedNews } from '../../lib/core/decisions/news.ts';

/** The target of calls: it answers at once, and only the world's own clock moves it. */
export interface External {
  readonly table: MemoryTable;
  /** The file that answers the roles instead, in a world that has one. */
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
