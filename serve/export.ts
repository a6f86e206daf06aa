/**
 * The items of a file as they are, for a table: the file is closed for good first.
 *
 * Owns: the mark that closes it, and the order. Does not own: what takes the items in (`cli/serve/move.ts`).
 *
 * The mark is written before the first item is: whatever breaks off, no server goes on with executions that
 * may go on elsewhere. A closed file is exported again as often as one likes: it does not change any more.
 */

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { type DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { TABLE } from '../lib/aws/names.ts';
import { openDatabase, TABLE_NAME } from './sqlite/client.ts';

const MARK = { [TABLE.pk]: { S: 'closed' }, [TABLE.sk]: { S: 'closed' } } as const;
const TableName = TABLE_NAME;

/** @throws Error when the file was exported */
export async function refuseClosed(client: DynamoDBClient, file: string): Promise<void> {
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: MARK, ConsistentRead: true }));
  if (Item === undefined) return;
  const at = new Date(Number(Item['at']?.N)).toISOString();
  throw new Error(
    `${file} was exported at ${at} and is closed for good: its executions go on where they were taken in`,
  );
}

/**
 * Writes one item a line, in DynamoDB's own JSON.
 * @returns how many
 * @throws FileRefused when a server has it open
 */
export async function exportTo(file: string, to: string, now: number): Promise<number> {
  const { client, close } = openDatabase(file);
  try {
    const isClosed = await refuseClosed(client, file).then(
      () => false,
      () => true,
    );
    const Item = { ...MARK, at: { N: String(now) } };
    const closing = {
      TableName,
      Item,
      ConditionExpression: 'attribute_not_exists(#pk)',
      ExpressionAttributeNames: { '#pk': TABLE.pk },
    };
    if (!isClosed) await client.send(new PutItemCommand(closing));
    const part = `${to}.part`;
    const count = await writeItems(client, part);
    await rename(part, to);
    return count;
  } finally {
    close();
  }
}

async function writeItems(client: DynamoDBClient, path: string): Promise<number> {
  const out = createWriteStream(path, { flush: true });
  let count = 0;
  let from: Record<string, never> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName, ...(from === undefined ? {} : { ExclusiveStartKey: from }) }),
    );
    for (const item of page.Items ?? []) {
      if (item[TABLE.pk]?.S === MARK[TABLE.pk].S) continue;
      count += 1;
      // What is written waits in memory: a page is at most 1 MB.
      if (!out.write(`${JSON.stringify(item)}\n`)) await once(out, 'drain');
    }
    from = page.LastEvaluatedKey as typeof from;
  } while (from !== undefined);
  out.end();
  await finished(out);
  return count;
}
