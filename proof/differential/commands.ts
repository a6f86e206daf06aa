/**
 * Random commands to a state table, from a seed.
 *
 * Owns: which commands, so that conditions, pages, indexes and limits often occur. Does not own: sending them
 * (`answers.ts`). A command does not depend on the answers: both tables get the same ones.
 */

import {
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { INDEXES } from '../../lib/aws/names.ts';
import { seededRandom } from '../../lib/memory/world.ts';
import type { Item } from '../../serve/sqlite/values.ts';

/** 0 ≤ … < 1 */
export type Random = () => number;
export type AnyCommand =
  | BatchGetItemCommand
  | DeleteItemCommand
  | GetItemCommand
  | PutItemCommand
  | QueryCommand
  | ScanCommand
  | TransactWriteItemsCommand;

export const randomOf = (seed: number): Random => seededRandom(seed);

const PARTITIONS = ['exec#a', 'exec#b', 'exec#é', 'plan#a'];
const SORTS = ['exec', 'step#a', 'step#b', 'step#c', 'incident#1', 'inbox#ü'];
const WORDS = ['a', 'b', 'wake#0', 'wake#1', 'é', '9', '10'];
/** Numbers that are equal, or that would sort differently as text. */
const NUMBERS = ['9', '10', '100', '1.5', '1.50', '-3', '1e3', '1700000000000', '0', '007'];
/**
 * Sizes that are not near the limit of 400 KB, because the two tables count a number's bytes differently: the
 * embedded DynamoDB counts its zeros.
 */
const LARGE = [90_000, 250_000, 262_130, 399_000, 409_000, 409_700];

export class Commands {
  readonly #random: Random;
  readonly #table: string;

  constructor(table: string, random: Random) {
    this.#table = table;
    this.#random = random;
  }

  next(): AnyCommand {
    const TableName = this.#table;
    const makers: readonly (readonly [number, () => AnyCommand])[] = [
      [30, () => new PutItemCommand(this.#put())],
      [6, () => new DeleteItemCommand({ TableName, Key: this.#key(), ...this.#condition() })],
      [10, () => new TransactWriteItemsCommand({ TransactItems: this.#parts() })],
      [12, () => new GetItemCommand({ TableName, Key: this.#key(), ConsistentRead: this.#may(0.5) })],
      [6, () => new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: this.#keys() } } })],
      [16, () => this.#query()],
      [18, () => this.#indexQuery()],
      [2, () => new ScanCommand({ TableName, ...this.#optional(0.5, { Limit: this.#upTo(5) + 1 }) })],
    ];
    let at = this.#random() * makers.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, make] of makers) {
      at -= weight;
      if (at < 0) return make();
    }
    throw new Error('unreachable');
  }

  readonly #may = (chance: number): boolean => this.#random() < chance;
  readonly #upTo = (count: number): number => Math.floor(this.#random() * count);
  readonly #one = <Value>(values: readonly Value[]): Value => values[this.#upTo(values.length)] as Value;
  readonly #optional = <Values extends object>(chance: number, values: Values): Values | object =>
    this.#may(chance) ? values : {};

  #key(): Item {
    return { pk: { S: this.#one(PARTITIONS) }, sk: { S: this.#one(SORTS) } };
  }

  /** Rarely repeats a key, which is refused. */
  #keys(): Item[] {
    const keys = Array.from({ length: 1 + this.#upTo(6) }, () => this.#key());
    if (this.#may(0.05)) return keys;
    return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
  }

  /** @param wrong how often a key has the wrong type */
  #item(wrong = 0.01): Item {
    const item: Item = { ...this.#key(), version: { N: String(1 + this.#upTo(3)) } };
    for (const { pk, sk } of INDEXES) {
      if (this.#may(0.4)) item[pk] = this.#may(wrong) ? { N: '1' } : { S: this.#one(['a', 'b']) };
      if (this.#may(0.5)) item[sk] = this.#may(wrong) ? { S: 'x' } : { N: this.#one(NUMBERS) };
    }
    for (const name of ['workflow', 'kind', 'openedAt', 'other'])
      if (this.#may(0.4)) item[name] = this.#value();
    if (this.#may(0.04)) item['payload'] = { S: 'x'.repeat(this.#one(LARGE)) };
    if (this.#may(0.01)) item['pk'] = { S: '' };
    return item;
  }

  #value(): Item[string] {
    const kind = this.#upTo(8);
    if (kind < 3) return { S: this.#one(WORDS) };
    if (kind < 6) return { N: this.#one(NUMBERS) };
    return this.#one([{ BOOL: true }, { NULL: true }, { L: [{ N: '1.0' }] }, { M: { a: { S: 'x' } } }]);
  }

  #put() {
    return {
      TableName: this.#table,
      Item: this.#item(),
      ...this.#condition(),
      ...this.#optional(0.1, { ReturnValues: 'ALL_OLD' as const }),
    };
  }

  #condition() {
    const shown = this.#optional(0.6, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const });
    const names = { '#version': 'version', '#other': 'other' };
    const version = { ':version': { N: this.#one(['1', '2', '3', '2.0', '10']) } };
    switch (this.#upTo(9)) {
      case 0:
      case 1:
        return {};
      case 2:
        return { ConditionExpression: 'attribute_not_exists(pk)', ...shown };
      case 3:
        return { ConditionExpression: 'attribute_exists(pk)', ...shown };
      case 4:
        return {
          ConditionExpression: `#version = :version AND #other ${this.#one(['=', '<>', '<', '>='])} :other`,
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ...version, ':other': this.#value() },
          ...shown,
        };
      case 5:
        return {
          ConditionExpression: `NOT (#version ${this.#one(['<', '>'])} :version OR attribute_exists(#other))`,
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: version,
          ...shown,
        };
      default:
        return {
          ConditionExpression: `#version ${this.#one(['=', '=', '<>', '<', '<=', '>', '>='])} :version`,
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: version,
          ...shown,
        };
    }
  }

  /**
   * Parts that are each valid, because the embedded DynamoDB does not notice an error in one part of a
   * transaction.
   */
  #parts() {
    const TableName = this.#table;
    const parts = Array.from({ length: 1 + this.#upTo(4) }, () => {
      const kind = this.#upTo(10);
      if (kind === 0) return { Delete: { TableName, Key: this.#key(), ...this.#condition() } };
      if (kind > 1) return { Put: { TableName, Item: this.#item(0), ...this.#condition() } };
      const ConditionExpression = 'attribute_exists(pk)';
      return { ConditionCheck: { TableName, Key: this.#key(), ConditionExpression } };
    });
    if (this.#may(0.05)) return parts;
    const keyOf = (part: (typeof parts)[number]): string => {
      const { pk, sk } = part.Put?.Item ?? part.Delete?.Key ?? part.ConditionCheck?.Key ?? {};
      return JSON.stringify([pk, sk]);
    };
    return [...new Map(parts.map((part) => [keyOf(part), part])).values()];
  }

  #query(): QueryCommand {
    const [sorted, values] = this.#one<readonly [string, Item]>([
      ['', {}],
      ['', {}],
      [' AND begins_with(sk, :a)', { ':a': { S: this.#one(['step#', 'i', 'exec']) } }],
      [' AND sk BETWEEN :a AND :b', { ':a': { S: this.#one(SORTS) }, ':b': { S: this.#one(SORTS) } }],
      [` AND sk ${this.#one(['=', '<', '<=', '>', '>='])} :a`, { ':a': { S: this.#one(SORTS) } }],
    ]);
    return this.#page({
      KeyConditionExpression: `pk = :pk${sorted}`,
      ExpressionAttributeValues: { ':pk': { S: this.#one(PARTITIONS) }, ...values },
    });
  }

  #indexQuery(): QueryCommand {
    const { name, pk, sk } = this.#one(INDEXES);
    const [sorted, values] = this.#one<readonly [string, Item]>([
      ['', {}],
      [' AND #sk BETWEEN :a AND :b', { ':a': { N: this.#one(NUMBERS) }, ':b': { N: this.#one(NUMBERS) } }],
      [' AND #sk BETWEEN :a AND :b', { ':a': { N: '0' }, ':b': { N: '9007199254740990' } }],
      [` AND #sk ${this.#one(['=', '<', '<=', '>', '>='])} :a`, { ':a': { N: this.#one(NUMBERS) } }],
    ]);
    return this.#page({
      IndexName: name,
      KeyConditionExpression: `#pk = :pk${sorted}`,
      ExpressionAttributeNames: { '#pk': pk, ...(sorted === '' ? {} : { '#sk': sk }) },
      ExpressionAttributeValues: { ':pk': { S: this.#one(['a', 'b']) }, ...values },
    });
  }

  /** A query with options that any page may have. */
  #page(query: {
    readonly IndexName?: string;
    readonly KeyConditionExpression: string;
    readonly ExpressionAttributeNames?: Record<string, string>;
    readonly ExpressionAttributeValues: Item;
  }): QueryCommand {
    const filter = this.#one<readonly [string, Item]>([
      ['#kind = :kind', { ':kind': this.#value() }],
      ['#kind < :kind OR attribute_not_exists(#kind)', { ':kind': this.#value() }],
      ['begins_with(#kind, :kind)', { ':kind': { S: this.#one(WORDS) } }],
    ]);
    const isFiltered = this.#may(0.35);
    const names = { ...query.ExpressionAttributeNames, ...(isFiltered ? { '#kind': 'kind' } : {}) };
    return new QueryCommand({
      TableName: this.#table,
      ...query,
      ...(Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names }),
      ...(isFiltered
        ? {
            FilterExpression: filter[0],
            ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ...filter[1] },
          }
        : {}),
      ...this.#optional(0.5, { Limit: 1 + this.#upTo(4) }),
      ...this.#optional(0.5, { ScanIndexForward: this.#may(0.5) }),
      ...this.#one([{}, {}, {}, { Select: 'COUNT' as const }]),
    });
  }
}
