/**
 * Records beside the executions in memory, one version after the other, with the condition of the real ones.
 */

import type { WriteResult } from '../core/ports.ts';

interface Versioned {
  readonly version: number;
  readonly writeId: string;
}

export interface MemoryRecords<Kept> {
  readonly read: (key: string) => Promise<Kept | undefined>;
  readonly write: (record: Kept) => Promise<WriteResult>;
  readonly all: () => readonly Kept[];
}

/** @param keyOf under which key a record is kept */
export function memoryRecords<Kept extends Versioned>(keyOf: (record: Kept) => string): MemoryRecords<Kept> {
  const stored = new Map<string, Kept>();
  return {
    read: async (key) => stored.get(key),
    write: async (record) => {
      const before = stored.get(keyOf(record));
      const follows = (before?.version ?? 0) === record.version - 1 || before?.writeId === record.writeId;
      if (!follows) return 'conflict';
      stored.set(keyOf(record), record);
      return 'written';
    },
    all: () => [...stored.values()],
  };
}
