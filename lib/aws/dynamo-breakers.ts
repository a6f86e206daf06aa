/**
 * The breakers on DynamoDB: `agent#<name>`/`breaker` in the state table; and the records of their openings,
 * beside them as `outage#<openedAt>`.
 *
 * Owns: their keys, and how long the record of an opening is kept. Does not own:
 * their item (`dynamo-record.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Breaker } from '../core/step/breaker.ts';
import type { Outage } from '../core/step/outage.ts';
import { refuse } from '../core/values/errors.ts';
import { isName } from '../core/values/names.ts';
import type { Breakers, Outages } from '../core/ports.ts';
import type { Item } from './dynamo-items.ts';
import { readRecord, recordIn, writeRecord } from './dynamo-record.ts';
import { TABLE } from './names.ts';

export function breakerKey(agent: string): Item {
  if (!isName(agent)) throw refuse('bad-key', `'${agent}' is not an agent's name`);
  return { [TABLE.pk]: { S: `agent#${agent}` }, [TABLE.sk]: { S: 'breaker' } };
}

export const breakerOf = (item: Item): Breaker => recordIn(item, 'breaker') as Breaker;

export const dynamoBreakers = (client: DynamoDBClient, table: string): Breakers => ({
  read: async (agent) => readRecord<Breaker>(client, table, breakerKey(agent), 'breaker'),
  write: async (breaker) => writeRecord(client, table, breakerKey(breaker.agent), 'breaker', breaker),
});

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
