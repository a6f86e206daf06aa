/**
 * The receipts on DynamoDB: `shard#<n>`/`receipt` and `audit`/`receipt` in the state table.
 *
 * Owns: their keys; one read of all of them. Does not own: their items (`dynamo-record.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Receipts } from '../core/ports.ts';
import type { AuditReceipt, ShardReceipt } from '../core/records/receipts.ts';
import { BATCH, keyText, readItems } from './dynamo-batch.ts';
import type { Item } from './dynamo-items.ts';
import { recordIn, writeRecord } from './dynamo-record.ts';
import { TABLE } from './names.ts';

const SK = { S: 'receipt' };
const shardKey = (shard: number): Item => ({ [TABLE.pk]: { S: `shard#${shard}` }, [TABLE.sk]: SK });
const AUDIT_KEY: Item = { [TABLE.pk]: { S: 'audit' }, [TABLE.sk]: SK };

export function dynamoReceipts(client: DynamoDBClient, table: string, wakeShards: number): Receipts {
  const keys = [AUDIT_KEY, ...Array.from({ length: wakeShards }, (_, shard) => shardKey(shard))];
  const batches = Array.from({ length: Math.ceil(keys.length / BATCH) }, (_, at) =>
    keys.slice(at * BATCH, (at + 1) * BATCH),
  );
  return {
    read: async () => {
      const found = await Promise.all(batches.map((batch) => readItems(client, table, batch)));
      const items = new Map(found.flatMap((batch) => [...batch]));
      const of = (key: Item): unknown[] => {
        const item = items.get(keyText(key));
        return item === undefined ? [] : [recordIn(item, 'receipt')];
      };
      const [audit] = of(AUDIT_KEY) as AuditReceipt[];
      const shards = keys.slice(1).flatMap(of) as ShardReceipt[];
      return audit === undefined ? { shards } : { shards, audit };
    },
    write: async (receipt) =>
      writeRecord(
        client,
        table,
        'shard' in receipt ? shardKey(receipt.shard) : AUDIT_KEY,
        'receipt',
        receipt,
      ),
  };
}
