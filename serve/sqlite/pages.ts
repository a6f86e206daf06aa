/**
 * Query and scan: one page.
 *
 * Owns: where a page ends, and what remains after a filter and a projection. Does not own: the range
 * (`key-range.ts`), the order of rows (`table.ts`).
 *
 * A page ends where DynamoDB's does: at its limit of rows read, or before the rows read would exceed 1 MB.
 * For an index, only its projection is counted and answered.
 */

import type { QueryCommandInput, QueryCommandOutput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { TABLE, type TableIndex } from '../../lib/aws/names.ts';
import {
  type Expression,
  expressionOf,
  type Given,
  holds,
  nameOf,
  type Node,
  refuseUnused,
} from './expressions.ts';
import { keyRange } from './key-range.ts';
import { lastKey, placeOf } from './keys.ts';
import { invalid } from './refusals.ts';
import { indexNamed } from './schema.ts';
import type { Place, Row, Table } from './table.ts';
import { type Item, measured } from './values.ts';

export const MAX_PAGE_BYTES = 1_048_576;
/** How many rows are fetched at a time. */
const CHUNK = 50;
/** The most keys that one page of a scan reads, including those of other segments. */
const MAX_SCANNED_KEYS = 4_000;

export type Page = Pick<QueryCommandOutput, 'Items' | 'Count' | 'ScannedCount' | 'LastEvaluatedKey'>;

export function query(table: Table, input: QueryCommandInput): Page {
  const { IndexName, KeyConditionExpression, ExclusiveStartKey, Limit, ScanIndexForward = true } = input;
  const index = IndexName === undefined ? undefined : indexNamed(IndexName);
  if (index !== undefined && input.ConsistentRead === true)
    throw invalid('Consistent reads are not supported on global secondary indexes');
  if (KeyConditionExpression === undefined)
    throw invalid(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    );
  const keys = expressionOf(KeyConditionExpression);
  const shown = shownOf(input, [keys], index);
  const { partition, bounds } = keyRange(keys.root, input, index);
  if (index === undefined && bounds.length === 0 && isWholePlain(input)) {
    const items = table.partition(partition, CHUNK, MAX_PAGE_BYTES);
    if (items !== undefined) return { Items: [...items], Count: items.length, ScannedCount: items.length };
  }
  const range = { index, partition, bounds, isForward: ScanIndexForward };
  const start = ExclusiveStartKey && placeOf(ExclusiveStartKey, index, partition);
  const page = new PageOf(shown, Limit);
  let after: Place | undefined = start;
  for (let isMore = true; isMore; ) {
    const most = Math.min(CHUNK, page.room);
    const rows = table.rows(range, after, most);
    for (const row of rows) if (!page.add(row, row)) return page.ended(index);
    after = rows.at(-1);
    isMore = rows.length === most;
  }
  return page.whole();
}

/**
 * Whether the query reads a whole partition without filter or projection, as the read of an execution does.
 */
const isWholePlain = (input: QueryCommandInput): boolean =>
  input.ExclusiveStartKey === undefined &&
  input.FilterExpression === undefined &&
  input.ProjectionExpression === undefined &&
  input.Limit === undefined &&
  input.Select === undefined &&
  input.ScanIndexForward !== false;

export function scan(table: Table, input: ScanCommandInput): Page {
  const { Segment, TotalSegments, ExclusiveStartKey, Limit, IndexName } = input;
  if (IndexName !== undefined) throw invalid('an index is not scanned here');
  if ((Segment === undefined) !== (TotalSegments === undefined) || (Segment ?? 0) >= (TotalSegments ?? 1))
    throw invalid('The Segment parameter is required and must be less than parameter TotalSegments');
  const isOwn = (pk: string): boolean =>
    TotalSegments === undefined || segmentOf(pk, TotalSegments) === Segment;
  const page = new PageOf(shownOf(input, [], undefined), Limit);
  const after = ExclusiveStartKey && placeOf(ExclusiveStartKey, undefined);
  const keys = table.keys(after, MAX_SCANNED_KEYS);
  for (const [pk, sk] of keys) {
    if (!isOwn(pk)) {
      page.passBy({ pk, sk });
      continue;
    }
    const stored = table.row(pk, sk);
    if (stored !== undefined && !page.add(stored, stored)) return page.ended(undefined);
  }
  return keys.length === MAX_SCANNED_KEYS ? page.ended(undefined) : page.whole();
}

/** Maps a partition to a segment, always the same one (FNV-1a). */
function segmentOf(pk: string, segments: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < pk.length; at += 1) hash = Math.imul(hash ^ pk.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % segments;
}

/** The rows of a page in the form of its answer. */
interface Shown {
  readonly given: Given;
  readonly index: TableIndex | undefined;
  readonly filter: Expression | undefined;
  readonly isCounted: boolean;
  /** Names of attributes. */
  readonly projected: readonly string[] | undefined;
}

type Input = Given &
  Pick<QueryCommandInput, 'FilterExpression' | 'ProjectionExpression' | 'Select' | 'Limit'>;

function shownOf(input: Input, others: readonly Expression[], index: TableIndex | undefined): Shown {
  const { FilterExpression, ProjectionExpression, Select, Limit } = input;
  if (Limit !== undefined && Limit < 1)
    throw invalid(
      "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
    );
  const filter = FilterExpression === undefined ? undefined : expressionOf(FilterExpression);
  const paths = ProjectionExpression?.split(',').map((path) => path.trim());
  const projection = paths && { root: NOTHING, uses: new Set(paths) };
  refuseUnused(input, [...others, filter, projection]);
  const keys = index === undefined ? [TABLE.pk, TABLE.sk] : [index.pk, index.sk];
  if (filter !== undefined && others.length > 0) refuseKeys(filter, input, keys);
  return {
    given: input,
    index,
    filter,
    isCounted: Select === 'COUNT',
    projected: paths?.map((path) => nameOf(path, input)),
  };
}

const NOTHING: Node = { is: 'and', parts: [] };

function refuseKeys(filter: Expression, given: Given, keys: readonly string[]): void {
  for (const path of filter.uses) {
    if (path.startsWith(':') || !keys.includes(nameOf(path, given))) continue;
    throw invalid(
      `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${nameOf(path, given)}`,
    );
  }
}

class PageOf {
  readonly #shown: Shown;
  readonly #limit: number;
  readonly #items: Item[] = [];
  #count = 0;
  #scanned = 0;
  #bytes = 0;
  #last: Row | Place | undefined;

  constructor(shown: Shown, limit = Number.POSITIVE_INFINITY) {
    this.#shown = shown;
    this.#limit = limit;
  }

  /** How many rows may still be read. */
  get room(): number {
    return this.#limit - this.#scanned;
  }

  passBy(place: Place): void {
    this.#last = place;
  }

  /** @returns whether the page continues */
  add(row: Row, place: Row): boolean {
    const { index, filter, given, isCounted, projected } = this.#shown;
    const item =
      index === undefined ? row.item : only(row.item, [...KEYS, index.pk, index.sk, ...index.projected]);
    const bytes = index === undefined ? row.bytes : measured(item).bytes;
    if (this.#bytes + bytes > MAX_PAGE_BYTES && this.#scanned > 0) return false;
    this.#bytes += bytes;
    this.#scanned += 1;
    this.#last = place;
    if (filter === undefined || holds(filter.root, given, item)) {
      this.#count += 1;
      if (!isCounted) this.#items.push(projected === undefined ? item : only(item, projected));
    }
    return this.#scanned < this.#limit;
  }

  /** The page, ended before the last row. */
  ended(index: TableIndex | undefined): Page {
    const last = this.#last;
    return last === undefined ? this.whole() : { ...this.whole(), LastEvaluatedKey: lastKey(last, index) };
  }

  whole(): Page {
    const counts = { Count: this.#count, ScannedCount: this.#scanned };
    return this.#shown.isCounted ? counts : { Items: this.#items, ...counts };
  }
}

const KEYS = [TABLE.pk, TABLE.sk];

export function only(item: Item, names: readonly string[]): Item {
  const some: Item = {};
  for (const name of names) {
    const value = item[name];
    if (value !== undefined) some[name] = value;
  }
  return some;
}
