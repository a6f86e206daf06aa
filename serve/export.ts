/**
 * The items of a file as they are, for a table, and its large values, for a bucket: the file is closed for
 * good first.
 *
 * Owns: the mark that closes it, and the order. Does not own: what takes the items in (`cli/serve/move.ts`).
 *
 * The mark is written before the first item is: whatever breaks off, no server goes on with executions that
 * may go on elsewhere. A closed file may be exported again at any time: it does not change any more.
 *
 * The first line says that this is an export, and the last one how many lines are between them: this shows
 * that a copy was cut, even at the end of a line.
 */

import { createWriteStream, existsSync, realpathSync, statSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { TABLE } from '../lib/aws/names.ts';
import { valuesOf } from './folder-values.ts';
import { openDatabase, TABLE_NAME } from './sqlite/client.ts';
import { unlinked } from './sqlite/file.ts';

const MARK = { [TABLE.pk]: { S: 'closed' }, [TABLE.sk]: { S: 'closed' } } as const;
const TableName = TABLE_NAME;

/** @throws Error when the file was exported */
export async function refuseClosed(client: DynamoDBClient, file: string): Promise<void> {
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: MARK, ConsistentRead: true }));
  if (Item === undefined) return;
  const at = new Date(Number(Item['at']?.N)).toISOString();
  throw new Error(
    `${file} was exported at ${at} and is closed for good: its executions continue where it was imported`,
  );
}

/**
 * Writes first the large values, then the items in DynamoDB's own JSON, one a line: what takes them in has
 * each value before the record that names it.
 * @returns how many values and items in all
 * @throws FileRefused when a server has it open
 */
export async function exportTo(file: string, to: string, now: number): Promise<number> {
  refuseTarget(file, to);
  const { client, close } = openDatabase(file);
  const part = `${to}.part`;
  try {
    // Where nothing can be written, nothing is closed.
    await writeFile(part, '');
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
    const count = await writeLines(part, [valueLines(file), itemLines(client)]);
    await rename(part, to);
    return count;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    close();
  }
}

const PARTS = ['', '-wal', '-shm', '-lock'];

/** What is there is replaced once all is written: a device, a pipe or the state itself must not be. */
function refuseTarget(file: string, to: string): void {
  if (!existsSync(to)) return;
  if (!statSync(to).isFile()) throw new Error(`${to} is a directory, a pipe or a device: name a file`);
  const own = unlinked(file);
  if (PARTS.some((part) => realpathSync(to) === `${own}${part}`))
    throw new Error(`${to} belongs to the state that is exported: name another file`);
}

/** A line of an export that is no item. */
export interface ValueLine {
  readonly largeValue: { readonly key: string; readonly json: string };
}

/** The first line, and the last one. */
export interface FrameLine {
  readonly export: { readonly format: 1 } | { readonly lines: number };
}

async function writeLines(path: string, all: readonly AsyncGenerator<object>[]): Promise<number> {
  let count = 0;
  const frame = (of: FrameLine['export']): string =>
    `${JSON.stringify({ export: of } satisfies FrameLine)}\n`;
  const texts = async function* (): AsyncGenerator<string> {
    yield frame({ format: 1 });
    for (const lines of all)
      for await (const line of lines) {
        count += 1;
        yield `${JSON.stringify(line)}\n`;
      }
    yield frame({ lines: count });
  };
  await pipeline(texts, createWriteStream(path, { flush: true }));
  return count;
}

async function* valueLines(file: string): AsyncGenerator<ValueLine> {
  const values = await valuesOf(file);
  let cursor: string | undefined;
  do {
    const page = await values.list('', cursor);
    for (const { key } of page.items) {
      const json = await values.get(key);
      if (json !== undefined) yield { largeValue: { key, json } };
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function* itemLines(client: DynamoDBClient): AsyncGenerator<object> {
  let from: Record<string, never> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName, ...(from === undefined ? {} : { ExclusiveStartKey: from }) }),
    );
    for (const item of page.Items ?? []) if (item[TABLE.pk]?.S !== MARK[TABLE.pk].S) yield item;
    from = page.LastEvaluatedKey as typeof from;
  } while (from !== undefined);
}
