/**
 * The breakers on DynamoDB: `agent#<name>`/`breaker` in the state table.
 *
 * Owns: their key and item. Does not own: the condition (`dynamo-put.ts`).
 */

import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Breaker } from '../core/step/breaker.ts';
import { refuse } from '../core/records/errors.ts';
import { isName } from '../core/records/names.ts';
import type { Breakers } from '../core/ports.ts';
import { type Item, text } from './dynamo-items.ts';
import { conditional, putOne } from './dynamo-put.ts';
import { TABLE } from './names.ts';

const ITEM_VERSION = '1';

export function breakerKey(agent: string): Item {
  if (!isName(agent)) throw refuse('bad-key', `'${agent}' is not an agent's name`);
  return { [TABLE.pk]: { S: `agent#${agent}` }, [TABLE.sk]: { S: 'breaker' } };
}

export const breakerOf = (item: Item): Breaker => JSON.parse(text(item, 'breaker')) as Breaker;

export function dynamoBreakers(client: DynamoDBClient, table: string): Breakers {
  return {
    read: async (agent) => {
      const get = new GetItemCommand({ TableName: table, Key: breakerKey(agent), ConsistentRead: true });
      const { Item } = await client.send(get);
      return Item && breakerOf(Item);
    },
    write: async (breaker) => {
      const item: Item = {
        ...breakerKey(breaker.agent),
        v: { N: ITEM_VERSION },
        version: { N: String(breaker.version) },
        writeId: { S: breaker.writeId },
        breaker: { S: JSON.stringify(breaker) },
      };
      return (await putOne(client, conditional(table, item, breaker))).kind;
    },
  };
}
