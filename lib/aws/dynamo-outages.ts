/**
 * The records of openings on DynamoDB: `agent#<name>`/`outage#<openedAt>` in the state table.
 *
 * Owns: their key, and how long they are kept. Does not own: their item (`dynamo-record.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Outages } from '../core/ports.ts';
import type { Outage } from '../core/step/outage.ts';
import { breakerKey } from './dynamo-breakers.ts';
import type { Item } from './dynamo-items.ts';
import { readRecord, writeRecord } from './dynamo-record.ts';
import { TABLE } from './names.ts';

/** No more are listed than the latest of each agent; the others go by themselves. */
const KEPT_S = 90 * 86_400;

const outageKey = (agent: string, openedAt: number): Item => ({
  ...breakerKey(agent),
  [TABLE.sk]: { S: `outage#${openedAt}` },
});

export const dynamoOutages = (client: DynamoDBClient, table: string): Outages => ({
  read: async (agent, openedAt) => readRecord<Outage>(client, table, outageKey(agent, openedAt), 'outage'),
  write: async (outage) => {
    const { agent, openedAt } = outage;
    const goneAt = { [TABLE.ttl]: { N: String(Math.ceil(openedAt / 1_000) + KEPT_S) } };
    return writeRecord(client, table, { ...outageKey(agent, openedAt), ...goneAt }, 'outage', outage);
  },
});
