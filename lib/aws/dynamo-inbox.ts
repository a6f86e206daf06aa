/**
 * The inbox: open incidents, approvals and callbacks of all workflows, the earliest deadline first, from the
 * list index.
 *
 * Owns: the page and its cursor. Does not own: the items (`dynamo-items.ts`).
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { InboxItem, Page } from '../core/ports.ts';
import { isOpen } from '../core/records/question.ts';
import { BATCH, keyText, readItems } from './dynamo-batch.ts';
import { IndexKeys } from './dynamo-index-keys.ts';
import { INBOX_SHARDS, INBOX_KEY, shardsOf } from './dynamo-indexes.ts';
import { idOfKey, type Item, questionOf, text } from './dynamo-items.ts';
import { TABLE } from './names.ts';

/** @throws SteadfastError `bad-cursor`: the cursor comes from a client */
export async function inboxPage(
  client: DynamoDBClient,
  table: string,
  limit: number,
  cursor?: string,
): Promise<Page<InboxItem>> {
  const partitions = shardsOf(INBOX_KEY, INBOX_SHARDS);
  const keys = new IndexKeys(client, table, {
    index: TABLE.listIndex,
    partitions,
    first: 'earliest',
    cursor,
  });
  const most = Math.min(limit, BATCH);
  const wanted: Item[] = [];
  for (let batch = await keys.peek(most); batch.length > 0; batch = await keys.peek(most - wanted.length)) {
    for (const { item } of batch) {
      keys.take();
      wanted.push({ pk: { S: text(item, TABLE.pk) }, sk: { S: text(item, TABLE.sk) } });
    }
    if (wanted.length === most) break;
  }
  const found = wanted.length === 0 ? new Map<string, Item>() : await readItems(client, table, wanted);
  const items = wanted.flatMap((key) => {
    const item = found.get(keyText(key));
    return item === undefined ? [] : openIn(item);
  });
  return (await keys.peek(1)).length === 0 ? { items } : { items, cursor: keys.cursor() };
}

/** The index may lag: leave out questions that have been answered meanwhile. */
function openIn(item: Item): InboxItem[] {
  const executionId = idOfKey(item);
  const question = questionOf(item);
  return isOpen(question) ? [{ executionId, question }] : [];
}
