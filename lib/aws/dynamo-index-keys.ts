/**
 * The keys of several partitions of an index, merged in the order of their time.
 *
 * Owns: merging the partitions (one key may have several, its shards), how far each is read ahead, the
 * cursor, and reading all of them up to a bound. Does not own: which partitions, and the items behind the
 * keys (`dynamo-list.ts`, `dynamo-inbox.ts`).
 *
 * The index does not order equal times by id: a partition continues only after its own last key. So a cursor
 * contains the time of the last key taken and, for each partition that has given keys of that very time, its
 * last one. All other partitions continue at that time: their earlier keys were taken.
 */

import { type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { refuse } from '../core/values/errors.ts';
import { isExecutionId, isName } from '../core/values/names.ts';
import { shardOf } from './dynamo-indexes.ts';
import { executionKey, idOfKey, type Item, number, text } from './dynamo-items.ts';
import { executionOfMailbox, isOfMailbox, lifeOfMailbox, mailboxKey } from './dynamo-mailboxes.ts';
import { TABLE, type TableIndex } from './names.ts';

export interface IndexKey {
  readonly at: number;
  /** The attributes that the index projects, its keys included. */
  readonly item: Item;
}

type Index = Pick<TableIndex, 'name' | 'pk' | 'sk'>;

export interface KeyRange {
  readonly index: Index;
  /** Other indexes with the same partitions, if a key may be in any of them. */
  readonly others?: readonly Index[];
  /** Values of the index's first key. */
  readonly partitions: readonly string[];
  /** The end from which keys are read. @default the latest */
  readonly first?: 'earliest';
  readonly since?: number | undefined;
  /** Only keys before this time. */
  readonly until?: number | undefined;
  readonly cursor?: string | undefined;
  /** How many keys one query reads. @default as many bare keys as cost no more than the first */
  readonly readAhead?: number;
}

/**
 * A filter on the items that a query returns; read units are spent on all items. DynamoDB refuses a condition
 * that names a key of the index.
 */
export interface Condition {
  readonly expression: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}

const READ_AHEAD = 25;

export class IndexKeys {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #isDescending: boolean;
  readonly #partitions: readonly Partition[];
  /** The time of the last key that was taken. */
  #at: number | undefined;

  /** @throws SteadfastError `bad-cursor`: the cursor comes from a client */
  constructor(client: DynamoDBClient, table: string, range: KeyRange) {
    this.#client = client;
    this.#table = table;
    this.#isDescending = range.first === undefined;
    const places = [range.index, ...(range.others ?? [])].flatMap((index) =>
      range.partitions.map((key) => ({ place: placeOf(index, key), index, key })),
    );
    const after = parseCursor(range.cursor, new Set(places.map(({ place }) => place)));
    this.#at = after?.at;
    this.#partitions = places.map(
      (one) => new Partition(range, { ...one, after: after?.at, last: after?.last.get(one.place) }),
    );
  }

  /** The next keys, not yet taken: up to `count`, and at least one while there are any. */
  async peek(count: number): Promise<IndexKey[]> {
    const empty = (): Partition[] => this.#partitions.filter((one) => one.isToBeRead);
    for (let open = empty(); open.length > 0; open = empty())
      await Promise.all(open.map((one) => one.read(this.#client, this.#table)));
    const keys: IndexKey[] = [];
    const taken = new Map<Partition, number>();
    while (keys.length < count) {
      const next = this.#next((one) => one.at(taken.get(one) ?? 0));
      if (next === undefined) break;
      keys.push(next.key);
      const used = (taken.get(next.partition) ?? 0) + 1;
      taken.set(next.partition, used);
      // Stops here, because the next key of this partition is not known yet.
      if (next.partition.at(used) === undefined && !next.partition.isAtEnd) break;
    }
    return keys;
  }

  /** Takes the next key that was peeked at. */
  take(): void {
    const next = this.#next((one) => one.at(0));
    if (next === undefined) return;
    next.partition.take();
    this.#at = next.key.at;
  }

  /**
   * Returns the cursor after the last key taken. There must be one, from this reader or from the given
   * cursor.
   */
  cursor(): string {
    const places = this.#partitions.flatMap(({ place, last }) =>
      last !== undefined && last.at === this.#at ? [`${place}/${cursorText(last.item)}`] : [],
    );
    return [String(this.#at ?? 0), ...places].join('_');
  }

  #next(
    keyOf: (partition: Partition) => IndexKey | undefined,
  ): { readonly partition: Partition; readonly key: IndexKey } | undefined {
    let found: { partition: Partition; key: IndexKey } | undefined;
    for (const partition of this.#partitions) {
      const key = keyOf(partition);
      const isNext = found === undefined || (key && this.#isBefore(key.at, found.key.at));
      if (key !== undefined && isNext === true) found = { partition, key };
    }
    return found;
  }

  readonly #isBefore = (at: number, other: number): boolean => (this.#isDescending ? at > other : at < other);
}

interface Place {
  readonly place: string;
  readonly index: Index;
  readonly key: string;
  readonly after: number | undefined;
  readonly last: IndexKey | undefined;
}

/** One partition of the index. */
class Partition {
  readonly place: string;
  readonly #range: KeyRange;
  readonly #index: Index;
  readonly #key: string;
  readonly #from: number;
  readonly #to: number;
  /** The last key taken. */
  last: IndexKey | undefined;
  isAtEnd: boolean;
  #ahead: IndexKey[] = [];
  #startKey: Item | undefined;

  constructor(range: KeyRange, { place, index, key, after, last }: Place) {
    const { first, since = 0, until = Number.MAX_SAFE_INTEGER } = range;
    this.#range = range;
    this.#index = index;
    this.place = place;
    this.#key = key;
    this.#from = Math.max(since, first === 'earliest' ? (after ?? 0) : 0);
    this.#to = Math.min(until - 1, first === 'earliest' ? until : (after ?? until));
    this.isAtEnd = this.#from > this.#to;
    this.last = last;
    this.#startKey = last && {
      ...last.item,
      [index.pk]: { S: key },
      [index.sk]: { N: String(last.at) },
    };
  }

  get isToBeRead(): boolean {
    return this.#ahead.length === 0 && !this.isAtEnd;
  }

  at(index: number): IndexKey | undefined {
    return this.#ahead[index];
  }

  take(): void {
    this.last = this.#ahead.shift() ?? this.last;
  }

  async read(client: DynamoDBClient, table: string): Promise<void> {
    const { first, readAhead = READ_AHEAD } = this.#range;
    const index = this.#index;
    const answer = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: index.name,
        KeyConditionExpression: '#key = :key AND #at BETWEEN :from AND :to',
        ExpressionAttributeNames: { '#key': index.pk, '#at': index.sk },
        ExpressionAttributeValues: {
          ':key': { S: this.#key },
          ':from': { N: String(this.#from) },
          ':to': { N: String(this.#to) },
        },
        ScanIndexForward: first === 'earliest',
        Limit: readAhead,
        ...(this.#startKey === undefined ? {} : { ExclusiveStartKey: this.#startKey }),
      }),
    );
    for (const item of answer.Items ?? []) this.#ahead.push({ at: number(item, index.sk), item });
    this.#startKey = answer.LastEvaluatedKey;
    this.isAtEnd = answer.LastEvaluatedKey === undefined;
  }
}

/** The filter of the items to return. Read units are spent on all items that are read. */
export interface Answered {
  /** @default every one */
  readonly condition?: Condition | undefined;
  /** The attributes of each item to read. @default all that the index has */
  readonly attributes?: readonly string[];
}

/**
 * Reads everything that an index has in some partitions. If there are more than `most` items, returns the
 * first of those that were read.
 */
export async function readAll(
  client: DynamoDBClient,
  table: string,
  { index, partitions, first, since = 0, until = Number.MAX_SAFE_INTEGER }: KeyRange,
  most: number,
  { condition, attributes = [] }: Answered = {},
): Promise<{ readonly items: readonly Item[]; readonly atLeast?: true }> {
  const named = Object.fromEntries(attributes.map((name, at) => [`#answered${at}`, name]));
  const items: Item[] = [];
  let read = 0;
  let isCut = false;
  const readPartition = async (key: string): Promise<void> => {
    let from: Item | undefined;
    do {
      const answer = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: index.name,
          KeyConditionExpression: '#key = :key AND #at BETWEEN :from AND :to',
          ExpressionAttributeNames: { '#key': index.pk, '#at': index.sk, ...condition?.names, ...named },
          ExpressionAttributeValues: {
            ':key': { S: key },
            ':from': { N: String(since) },
            ':to': { N: String(until - 1) },
            ...condition?.values,
          },
          ...(condition === undefined ? {} : { FilterExpression: condition.expression }),
          ...(attributes.length === 0 ? {} : { ProjectionExpression: Object.keys(named).join(', ') }),
          ScanIndexForward: first === 'earliest',
          ...(from === undefined ? {} : { ExclusiveStartKey: from }),
        }),
      );
      items.push(...(answer.Items ?? []));
      read += answer.ScannedCount ?? 0;
      from = answer.LastEvaluatedKey;
    } while (from !== undefined && read <= most);
    if (from !== undefined) isCut = true;
  };
  await Promise.all(partitions.map(readPartition));
  if (!isCut && read <= most) return { items };
  // The partitions have answered in any order: sort, so that the first ones stay.
  const way = first === 'earliest' ? 1 : -1;
  items.sort((one, other) => way * (number(one, index.sk) - number(other, index.sk)));
  return { items: items.slice(0, most), atLeast: true };
}

/** A short name of a partition that does not depend on which others are read. */
const placeOf = ({ name }: Index, key: string): string => shardOf(`${name} ${key}`, 2 ** 32).toString(36);

const EXECUTION_SK = text(executionKey('x'), TABLE.sk);

/** Names the item behind a key: the execution's id, and which incident, entry or mailbox it is. */
function cursorText(item: Item): string {
  const sk = text(item, TABLE.sk);
  if (isOfMailbox(item)) return `${executionOfMailbox(item)}/${MAILBOX}.${lifeOfMailbox(item)}`;
  return sk === EXECUTION_SK ? idOfKey(item) : `${idOfKey(item)}/${sk.replace('#', '.')}`;
}

function parseCursor(
  cursor: string | undefined,
  known: ReadonlySet<string>,
): { readonly at: number; readonly last: ReadonlyMap<string, IndexKey> } | undefined {
  if (cursor === undefined) return undefined;
  const [time = '', ...places] = cursor.split('_');
  if (!/^\d{1,15}$/.test(time) || places.length === 0 || places.length > known.size) throw badCursor();
  const at = Number(time);
  const last = places.map((one): [string, IndexKey] => {
    const [place = '', id = '', which, ...more] = one.split('/');
    if (!known.has(place) || !isExecutionId(id) || more.length > 0) throw badCursor();
    const item = which === undefined ? executionKey(id) : besideIt(id, which);
    return [place, { at, item }];
  });
  return { at, last: new Map(last) };
}

const MAILBOX = 'mailbox';

function besideIt(id: string, which: string): Item {
  const dot = which.indexOf('.');
  const [kind, name] = [which.slice(0, dot), which.slice(dot + 1)];
  if (kind === MAILBOX && /^[a-z0-9]{1,64}$/.test(name)) return mailboxKey(id, name);
  const isKnown = (kind === 'incident' && /^\d{1,6}$/.test(name)) || (kind === 'inbox' && isName(name));
  if (!isKnown) throw badCursor();
  return { ...executionKey(id), [TABLE.sk]: { S: `${kind}#${name}` } };
}

export const badCursor = (): Error =>
  refuse('bad-cursor', 'the cursor is not one that this list has returned; leave it out to begin again');
