/**
 * Executions of some workflows, latest start first, from the list index.
 *
 * Owns: the filter by status, the bound of what is read for a page. Does not own: the order of the keys and the cursor
 * (`dynamo-list-keys.ts`), the items.
 *
 * Never scans: the index gives keys in order, the executions behind them are read, and what the filter drops is made up for
 * by reading on. A page costs one query per workflow and list shard (four of each), then at most one for every 25 keys, each
 * with one batch of up to 100 executions. It ends after 500 keys: it may then be short, even empty, and still have a cursor.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { sayable } from '../core/records/errors.ts';
import type { ListQuery, Log, Page } from '../core/ports.ts';
import type { Execution } from '../core/records/state.ts';
import { executionKey, executionOf, type Item } from './dynamo-items.ts';
import { BATCH, keyText, readItems } from './dynamo-batch.ts';
import { ListKeys } from './dynamo-list-keys.ts';

/** Keys that are read for one page. */
const MAX_KEYS = 500;

export async function listPage(
  client: DynamoDBClient,
  table: string,
  query: ListQuery,
  log?: Log,
): Promise<Page<Execution>> {
  const { limit, status } = query;
  const keys = new ListKeys(client, table, query.workflows, query.cursor);
  const items: Execution[] = [];
  for (let seen = 0; seen < MAX_KEYS && items.length < limit; ) {
    const wanted = status === undefined ? Math.min(limit - items.length, BATCH) : BATCH;
    const batch = await keys.peek(Math.min(wanted, MAX_KEYS - seen));
    if (batch.length === 0) return { items };
    const found = await readItems(
      client,
      table,
      batch.map((key) => executionKey(key.id)),
    );
    for (const { id } of batch) {
      if (items.length === limit) break;
      keys.take();
      seen += 1;
      const item = found.get(keyText(executionKey(id)));
      const execution = item && readable(item, id, log);
      if (execution !== undefined && (status === undefined || execution.status === status))
        items.push(execution);
    }
  }
  return (await keys.peek(1)).length === 0 ? { items } : { items, cursor: keys.cursor() };
}

/** One that a later release has written, or that is damaged, hides no other: it is left out, and said so. */
function readable(item: Item, executionId: string, log: Log | undefined): Execution | undefined {
  try {
    return executionOf(item);
  } catch (error) {
    log?.note({ what: 'list-left-out', executionId, detail: sayable(error) });
    return undefined;
  }
}
