/**
 * The supervisors' presence on DynamoDB: `supervisor`/`presence` in the state table.
 *
 * Owns: its key and item. Does not own: the condition (`dynamo-put.ts`).
 */

import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Presences } from '../core/ports.ts';
import type { Presence } from '../core/supervision/presence.ts';
import { type Item, text } from './dynamo-items.ts';
import { conditional, putOne } from './dynamo-put.ts';
import { TABLE } from './names.ts';

const ITEM_VERSION = '1';
const KEY: Item = { [TABLE.pk]: { S: 'supervisor' }, [TABLE.sk]: { S: 'presence' } };

export function dynamoPresences(client: DynamoDBClient, table: string): Presences {
  return {
    read: async () => {
      const get = new GetItemCommand({ TableName: table, Key: KEY, ConsistentRead: true });
      const { Item } = await client.send(get);
      return Item && (JSON.parse(text(Item, 'presence')) as Presence);
    },
    write: async (presence) => {
      const item: Item = {
        ...KEY,
        v: { N: ITEM_VERSION },
        version: { N: String(presence.version) },
        writeId: { S: presence.writeId },
        presence: { S: JSON.stringify(presence) },
      };
      return (await putOne(client, conditional(table, item, presence))).kind;
    },
  };
}
