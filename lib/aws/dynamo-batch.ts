/**
 * Items by their keys, many at once.
 *
 * Owns: asking again, after a pause and a bounded number of times, for items that DynamoDB left out. Does not
 * own: the items.
 */

import { BatchGetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clock } from './clock.ts';
import { type Item, text } from './dynamo-items.ts';
import { TABLE } from './names.ts';

/** DynamoDB's limit of one BatchGetItem. */
export const BATCH = 100;
/** The most requests for one batch; after that the caller of the list may ask again. */
const MAX_LAPS = 10;
/**
 * The longest pause before the second request; it doubles with each one after that. The real pause is random
 * and shorter, so that callers spread.
 */
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 400;

/** The key of an item as one text, to find the item by. */
export const keyText = (item: Item): string => `${text(item, TABLE.pk)}/${text(item, TABLE.sk)}`;

/** @returns the existing items of any number of keys, by `keyText` */
export async function readMany(
  client: DynamoDBClient,
  table: string,
  keys: readonly Item[],
): Promise<Map<string, Item>> {
  const batches = Array.from({ length: Math.ceil(keys.length / BATCH) }, (_, at) =>
    readItems(client, table, keys.slice(at * BATCH, (at + 1) * BATCH)),
  );
  return new Map((await Promise.all(batches)).flatMap((found) => [...found]));
}

/**
 * @param keys at most `BATCH`
 * @returns the existing items, by `keyText`
 * @throws Error if the table is too busy
 */
export async function readItems(
  client: DynamoDBClient,
  table: string,
  keys: readonly Item[],
  pause: (ms: number) => Promise<void> = (ms) => clock.sleep(ms),
): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  let open = [...keys];
  for (let lap = 0; open.length > 0; lap += 1) {
    if (lap >= MAX_LAPS) throw new Error('the table is too busy to read a page of a list');
    // The table throttles: an immediate repetition would take the rest of its capacity.
    if (lap > 0) await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (lap - 1)));
    const answer = await client.send(new BatchGetItemCommand({ RequestItems: { [table]: { Keys: open } } }));
    for (const item of answer.Responses?.[table] ?? []) found.set(keyText(item), item);
    open = answer.UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return found;
}
