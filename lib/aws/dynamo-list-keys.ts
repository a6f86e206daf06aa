/**
 * The keys of the list index, of several workflows together, latest start first.
 *
 * Owns: the merge of the partitions (each workflow has some), what is read ahead of each, the cursor. Does not own: the
 * executions behind the keys (`dynamo-list.ts`).
 *
 * The index does not order by id what started in the same millisecond: where a partition goes on, only its own last key says,
 * which is what DynamoDB itself would give back. A cursor is the time of the last key taken, and of each partition that
 * has given keys of that very time the last one's id. All others go on at that time: whatever they had later was taken.
 */

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { refuse } from '../core/records/errors.ts';
import { isExecutionId } from '../core/records/names.ts';
import { executionKey, idOfKey, type Item, LIST_SHARDS, listKey, number, shardOf } from './dynamo-items.ts';
import { TABLE } from './names.ts';

export interface ListKey {
  readonly id: string;
  readonly startedAt: number;
}

/** Keys of one query: as many as are read for the price of the first. */
const READ_AHEAD = 25;

export class ListKeys {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #partitions: readonly Partition[];
  /** When the last key that was taken started. */
  #at: number | undefined;

  /** @throws SteadfastError `bad-cursor`: it comes from a client */
  constructor(client: DynamoDBClient, table: string, workflows: readonly string[], cursor?: string) {
    this.#client = client;
    this.#table = table;
    const after = parseCursor(cursor, workflows);
    this.#at = after?.at;
    this.#partitions = workflows.flatMap((workflow) =>
      Array.from({ length: LIST_SHARDS }, (_, shard) => {
        const key = listKey(workflow, shard);
        return new Partition(workflow, key, after?.at, after?.last.get(key));
      }),
    );
  }

  /** The next keys, without taking them: up to `count`, and at least one while there are any. */
  async peek(count: number): Promise<ListKey[]> {
    const empty = (): Partition[] => this.#partitions.filter((one) => one.isToBeRead);
    for (let open = empty(); open.length > 0; open = empty())
      await Promise.all(open.map((one) => one.read(this.#client, this.#table)));
    const keys: ListKey[] = [];
    const taken = new Map<Partition, number>();
    while (keys.length < count) {
      const next = latest(this.#partitions, (one) => one.at(taken.get(one) ?? 0));
      if (next === undefined) break;
      keys.push(next.key);
      const used = (taken.get(next.partition) ?? 0) + 1;
      taken.set(next.partition, used);
      // What comes after it in its partition is not known yet.
      if (next.partition.at(used) === undefined && !next.partition.isAtEnd) break;
    }
    return keys;
  }

  /** Takes the next key that was peeked at. */
  take(): void {
    const next = latest(this.#partitions, (one) => one.at(0));
    if (next === undefined) return;
    next.partition.take();
    this.#at = next.key.startedAt;
  }

  /** Where to go on; something was taken, now or before. */
  cursor(): string {
    const ids = this.#partitions.flatMap(({ workflow, last }) =>
      last !== undefined && last.startedAt === this.#at ? [`${workflow}/${last.id}`] : [],
    );
    return [String(this.#at ?? 0), ...ids].join('_');
  }
}

function latest(
  partitions: readonly Partition[],
  keyOf: (partition: Partition) => ListKey | undefined,
): { readonly partition: Partition; readonly key: ListKey } | undefined {
  let found: { partition: Partition; key: ListKey } | undefined;
  for (const partition of partitions) {
    const key = keyOf(partition);
    if (key !== undefined && (found === undefined || key.startedAt > found.key.startedAt))
      found = { partition, key };
  }
  return found;
}

/** One partition of the index. */
class Partition {
  readonly workflow: string;
  readonly #key: string;
  readonly #from: number | undefined;
  /** The last one taken. */
  last: ListKey | undefined;
  isAtEnd = false;
  #ahead: ListKey[] = [];
  #startKey: Item | undefined;

  constructor(workflow: string, key: string, from: number | undefined, last: ListKey | undefined) {
    this.workflow = workflow;
    this.#key = key;
    this.#from = from;
    this.last = last;
    this.#startKey = last && startKeyOf(key, last);
  }

  get isToBeRead(): boolean {
    return this.#ahead.length === 0 && !this.isAtEnd;
  }

  at(index: number): ListKey | undefined {
    return this.#ahead[index];
  }

  take(): void {
    this.last = this.#ahead.shift() ?? this.last;
  }

  async read(client: DynamoDBClient, table: string): Promise<void> {
    const answer = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: TABLE.listIndex.name,
        KeyConditionExpression: this.#from === undefined ? '#key = :key' : '#key = :key AND #at <= :at',
        ExpressionAttributeNames: {
          '#key': TABLE.listIndex.pk,
          ...(this.#from === undefined ? {} : { '#at': TABLE.listIndex.sk }),
        },
        ExpressionAttributeValues: {
          ':key': { S: this.#key },
          ...(this.#from === undefined ? {} : { ':at': { N: String(this.#from) } }),
        },
        ScanIndexForward: false,
        Limit: READ_AHEAD,
        ...(this.#startKey === undefined ? {} : { ExclusiveStartKey: this.#startKey }),
      }),
    );
    for (const item of answer.Items ?? [])
      this.#ahead.push({ id: idOfKey(item), startedAt: number(item, TABLE.listIndex.sk) });
    this.#startKey = answer.LastEvaluatedKey;
    this.isAtEnd = answer.LastEvaluatedKey === undefined;
  }
}

/** As DynamoDB names the place of a key in the index. */
const startKeyOf = (key: string, { id, startedAt }: ListKey): Item => ({
  ...executionKey(id),
  [TABLE.listIndex.pk]: { S: key },
  [TABLE.listIndex.sk]: { N: String(startedAt) },
});

function parseCursor(
  cursor: string | undefined,
  workflows: readonly string[],
): { readonly at: number; readonly last: ReadonlyMap<string, ListKey> } | undefined {
  if (cursor === undefined) return undefined;
  const [time = '', ...places] = cursor.split('_');
  if (!/^\d{1,15}$/.test(time) || places.length === 0 || places.length > workflows.length * LIST_SHARDS)
    throw badCursor();
  const at = Number(time);
  const last = places.map((place): [string, ListKey] => {
    const [workflow = '', id = '', ...more] = place.split('/');
    if (!workflows.includes(workflow) || !isExecutionId(id) || more.length > 0) throw badCursor();
    return [listKey(workflow, shardOf(id, LIST_SHARDS)), { id, startedAt: at }];
  });
  return { at, last: new Map(last) };
}

const badCursor = (): Error =>
  refuse('bad-cursor', 'the cursor is not one that this list has returned; leave it out to begin again');
