/** The receipts in memory, with the conditions of the real ones. */

import type { Receipts } from '../core/ports.ts';
import type { AuditReceipt, ShardReceipt } from '../core/records/receipts.ts';

export function memoryReceipts(): Receipts {
  const shards = new Map<number, ShardReceipt>();
  let audit: AuditReceipt | undefined;
  return {
    read: async () => ({
      shards: [...shards.values()].sort((a, b) => a.shard - b.shard),
      ...(audit === undefined ? {} : { audit }),
    }),
    write: async (receipt) => {
      const stored = 'shard' in receipt ? shards.get(receipt.shard) : audit;
      const follows = (stored?.version ?? 0) === receipt.version - 1 || stored?.writeId === receipt.writeId;
      if (!follows) return 'conflict';
      if ('shard' in receipt) shards.set(receipt.shard, receipt);
      else audit = receipt;
      return 'written';
    },
  };
}
