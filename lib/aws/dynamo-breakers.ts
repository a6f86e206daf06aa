/**
 * The breakers on DynamoDB: `agent#<name>`/`breaker` in the state table.
 *
 * Owns: their key. Does not own: their item (`dynamo-record.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Breaker } from '../core/step/breaker.ts';
import { refuse } from '../core/records/errors.ts';
import { isName } from '../core/records/names.ts';
import type { Breakers } from '../core/ports.ts';
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
