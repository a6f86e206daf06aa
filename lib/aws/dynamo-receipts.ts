/**
 * The receipts on DynamoDB: one for each shard, one for the audit and one for the release, all read together.
 *
 * Owns: their kinds. Does not own: their items (`dynamo-side-records.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Receipts } from '../core/ports.ts';
import type { AuditReceipt, ReleaseReceipt, ShardReceipt } from '../core/records/receipts.ts';
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
const RELEASE: Kind<ReleaseReceipt, []> = {
  keyOf: () => [],
  placeOf: () => ['supervisor', 'release'],
};

export function dynamoReceipts(client: DynamoDBClient, table: string, wakeShards: number): Receipts {
  const [auditKey, releaseKey] = [itemKey(AUDIT), itemKey(RELEASE)];
  const shardKeys = Array.from({ length: wakeShards }, (_, shard) => itemKey(SHARD, shard));
  const [shards, audits] = [dynamoRecords(client, table, SHARD), dynamoRecords(client, table, AUDIT)];
  const releases = dynamoRecords(client, table, RELEASE);
  return {
    read: async () => {
      const items = await readMany(client, table, [auditKey, releaseKey, ...shardKeys]);
      const audit = items.get(keyText(auditKey));
      const release = items.get(keyText(releaseKey));
      return {
        shards: shardKeys.flatMap((key) => {
          const item = items.get(keyText(key));
          return item === undefined ? [] : [jsonIn(item) as ShardReceipt];
        }),
        ...defined({
          audit: audit && (jsonIn(audit) as AuditReceipt),
          release: release && (jsonIn(release) as ReleaseReceipt),
        }),
      };
    },
    write: async (receipt) => {
      if ('shard' in receipt) return shards.write(receipt);
      return 'release' in receipt ? releases.write(receipt) : audits.write(receipt);
    },
  };
}
