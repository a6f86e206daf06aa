/**
 * The size of an execution in the table, by DynamoDB's rules.
 *
 * Owns: the size of items and of their index entries. Does not own: the price of a gigabyte (`prices.ts`).
 */

import { type AttributeValue, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { INDEXES, TABLE } from '../../lib/aws/names.ts';
import type { Stage } from './stage.ts';

/** DynamoDB adds this much to every item and every index entry. */
const ENTRY_OVERHEAD_BYTES = 100;

/** The bytes of all executions' own items with their entries in both indexes. */
export async function storedBytes({ cloud }: Stage): Promise<number> {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = new DynamoDBClient({ endpoint: cloud.gatewayUrl, region: 'us-east-1', credentials });
  const table = [...cloud.resources.values()].find(({ type }) => type === 'AWS::DynamoDB::GlobalTable');
  let bytes = 0;
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table?.ref })) {
    for (const item of Items.filter((one) => one['sk']?.S === 'exec')) bytes += storedWith(item);
  }
  client.destroy();
  return bytes;
}

const KEYS = ['pk', 'sk'];
const ENTRIES = INDEXES.filter(
  ({ name }) => name === TABLE.wakeIndex.name || name === TABLE.listIndex.name,
).map(({ pk, sk, projected }) => [...KEYS, pk, sk, ...projected]);

type Item = Readonly<Record<string, AttributeValue>>;

/** By DynamoDB's rules: names and values, and about half a byte per digit of a number. */
function bytesOf(item: Item, names: readonly string[] = Object.keys(item)): number {
  return names
    .filter((name) => item[name] !== undefined)
    .map((name) => {
      const { S, N } = item[name] ?? {};
      return (
        Buffer.byteLength(name) + (N === undefined ? Buffer.byteLength(S ?? '') : Math.ceil(N.length / 2) + 1)
      );
    })
    .reduce((sum, bytes) => sum + bytes, ENTRY_OVERHEAD_BYTES);
}

const storedWith = (item: Item): number =>
  ENTRIES.reduce((sum, names) => sum + bytesOf(item, names), bytesOf(item));
