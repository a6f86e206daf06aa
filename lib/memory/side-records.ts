/**
 * The records beside the executions in memory. As in the table, each write needs the version after the stored
 * one.
 *
 * Owns: the kinds that are stored here, by their keys. Does not own: records that are written together
 * (`bulks.ts`).
 */

import type {
  Breakers,
  Presences,
  Rates,
  Receipts,
  SideRecord,
  SideRecords,
  Waits,
  WakeUps,
  WorkflowPauses,
} from '../core/ports.ts';
import type { AuditReceipt, ReleaseReceipt, ShardReceipt } from '../core/records/receipts.ts';
import type { Presence } from '../core/supervision/presence.ts';
import { defined } from '../core/values/defined.ts';

interface MemoryRecords<Kept extends SideRecord, Key extends readonly unknown[]>
  extends SideRecords<Kept, Key> {
  readonly all: () => readonly Kept[];
}

function memoryRecords<Kept extends SideRecord, Key extends readonly unknown[]>(
  keyOf: (record: Kept) => Key,
): MemoryRecords<Kept, Key> {
  const stored = new Map<string, Kept>();
  return {
    read: async (...key) => stored.get(JSON.stringify(key)),
    write: async (record) => {
      const key = JSON.stringify(keyOf(record));
      const before = stored.get(key);
      const follows = (before?.version ?? 0) === record.version - 1 || before?.writeId === record.writeId;
      if (!follows) return 'conflict';
      stored.set(key, record);
      return 'written';
    },
    all: () => [...stored.values()],
  };
}

export const memoryBreakers = (): Breakers => memoryRecords(({ agent }) => [agent]);
export const memoryRates = (): Rates => memoryRecords(({ agent }) => [agent]);
export const memoryWorkflowPauses = (): WorkflowPauses => memoryRecords(({ workflow }) => [workflow]);
export const memoryWaits = (): Waits => memoryRecords(() => []);
export const memoryPresences = (): Presences => memoryRecords(() => []);

/** Makes the wake-ups of one process; `presences` may be shared with others. */
export const memoryWakeUps = (
  presences: Presences,
  call: (presence: Presence) => Promise<void>,
): WakeUps => ({ ...presences, call, known: { untilAt: 0 } });

export function memoryReceipts(): Receipts {
  const shards = memoryRecords<ShardReceipt, [number]>(({ shard }) => [shard]);
  const audits = memoryRecords<AuditReceipt, []>(() => []);
  const releases = memoryRecords<ReleaseReceipt, []>(() => []);
  return {
    read: async () => ({
      shards: [...shards.all()].sort((a, b) => a.shard - b.shard),
      ...defined({ audit: await audits.read(), release: await releases.read() }),
    }),
    write: async (receipt) => {
      if ('shard' in receipt) return shards.write(receipt);
      return 'release' in receipt ? releases.write(receipt) : audits.write(receipt);
    },
  };
}
