/**
 * The receipts on DynamoDB: one for each shard and one for the audit, all read together.
 *
 * Owns: their kinds. Does not own: their items (`dynamo-side-records.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Receipts } from '../core/ports.ts';
import type { AuditReceipt, ShardReceipt } from '../core/records/receipts.ts';
import { defined } from '../core/values/defined.ts';
import { keyText, readMany } from './dynamo-batch.ts';
import { jsonIn } from './dynamo-items.ts';
import { dynamoRecords, itemKey, type Kind } from './dynamo-side-records.ts';

const SHARD: Kind<ShardReceipt, [shard: number]> = {
  keyOf: ({ shard }) => [shard],
  placeOf: (shard) => [`shard#${shard}`, 'receipt'],
};
const AUDIT: Kind<AuditReceipt, []> = {
  keyOf: () => [],
  placeOf: () => ['audit', 'receipt'],
};

export function dynamoReceipts(client: DynamoDBClient, table: string, wakeShards: number): Receipts {
  const auditKey = itemKey(AUDIT);
  const shardKeys = Array.from({ length: wakeShards }, (_, shard) => itemKey(SHARD, shard));
  const [shards, audits] = [dynamoRecords(client, table, SHARD), dynamoRecords(client, table, AUDIT)];
  return {
    read: async () => {
      const items = await readMany(client, table, [auditKey, ...shardKeys]);
      const audit = items.get(keyText(auditKey));
      return {
        shards: shardKeys.flatMap((key) => {
          const item = items.get(keyText(key));
          return item === undefined ? [] : [jsonIn(item) as ShardReceipt];
        }),
        ...defined({ audit: audit && (jsonIn(audit) as AuditReceipt) }),
      };
    },
    write: async (receipt) => ('shard' in receipt ? shards.write(receipt) : audits.write(receipt)),
  };
}
