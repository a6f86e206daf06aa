/** The receipts in memory, with the conditions of the real ones. */

import type { Receipts } from '../core/ports.ts';
import type { AuditReceipt, ShardReceipt } from '../core/records/receipts.ts';
import { memoryRecords } from './memory-records.ts';

export function memoryReceipts(): Receipts {
  const shards = memoryRecords<ShardReceipt>(({ shard }) => String(shard));
  const audits = memoryRecords<AuditReceipt>(() => '');
  return {
    read: async () => {
      const audit = await audits.read('');
      const sorted = [...shards.all()].sort((a, b) => a.shard - b.shard);
      return { shards: sorted, ...(audit === undefined ? {} : { audit }) };
    },
    write: async (receipt) => ('shard' in receipt ? shards.write(receipt) : audits.write(receipt)),
  };
}
