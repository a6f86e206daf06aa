/**
 * Reads open executions from the index of wake times.
 *
 * Owns: reading the whole index up to a bound; the page sorted by start, and, beyond the bound, by wake time.
 * Does not own: which attributes the index has (`dynamo-indexes.ts`), reading the executions behind its keys
 * (`dynamo-list.ts`).
 *
 * The index is in the order of wake times, but operators want the latest start first. So with up to
 * `mostOpen` open executions, the first page reads the whole index and sorts it (4,000 executions: 1 MB, 128
 * read units); later pages in the same process reuse that. With more executions, pages are in the index's
 * order. A filter by workflow, plan or risk reads as much, but DynamoDB returns only matches. Executions at
 * risk are few, so each page reads them again.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  isListed,
  type Bounded,
  mayBeListed,
  MOST_OPEN,
  type OpenKey,
} from '../core/operators/list-filter.ts';
import { isExecutionId } from '../core/values/names.ts';
import { OVERDUE_RISK_MS } from '../core/records/risk.ts';
import type { ListedPage, ListQuery } from '../core/ports.ts';
import type { Execution } from '../core/records/state.ts';
import type { ExecutionStatus } from '../core/moves.ts';
import { BATCH } from './dynamo-batch.ts';
import {
  badCursor,
  type Condition,
  type IndexKey,
  IndexKeys,
  type KeyRange,
  readAll,
} from './dynamo-index-keys.ts';
import { shardsOf, WAKE_KEY } from './dynamo-indexes.ts';
import { idOfKey, type Item, number, text } from './dynamo-items.ts';
import { isOfMailbox } from './dynamo-mailboxes.ts';
import { filteredPage, type ReadExecutions } from './dynamo-page.ts';
import { TABLE } from './names.ts';

export interface OpenOptions {
  readonly table: string;
  readonly wakeShards: number;
  /** @default MOST_OPEN */
  readonly mostOpen?: number;
  /** Finds executions at risk if the table itself can search for them. @default reads the open executions */
  readonly findAtRisk?: FindAtRisk;
}

/**
 * Finds at most `most` executions of these partitions that are due before `dueBefore`, or at risk at `at`
 * according to their records.
 */
export type FindAtRisk = (
  partitions: readonly string[],
  when: { readonly at: number; readonly dueBefore: number },
  most: number,
) => Promise<readonly Item[]>;

/** The most keys to read for one page in the order of the index. */
const MAX_KEYS = 2_000;
const READ_AHEAD = 100;
/** After a first page by start, later pages sort up to SLACK × `mostOpen` executions, too. */
const SLACK = 2;
/** A cursor's first letter: the order in which the list continues. */
const BY_START = 's';
const BY_WAKE = 'w';

export async function openPage(
  client: DynamoDBClient,
  options: OpenOptions,
  query: ListQuery,
  read: ReadExecutions,
): Promise<ListedPage> {
  const { table, wakeShards, mostOpen = MOST_OPEN } = options;
  const { cursor } = query;
  if (cursor === undefined || cursor.startsWith(BY_START)) {
    const after = cursor === undefined ? undefined : parsePlace(cursor.slice(1));
    const bound = after === undefined ? mostOpen : SLACK * mostOpen;
    const { items, atLeast } = await readFor(client, options, { query, bound, isFirst: after === undefined });
    if (atLeast === undefined) return pageByStart(items, after, query, read);
    if (after !== undefined) throw badCursor();
  }
  const keys = new IndexKeys(client, table, {
    index: TABLE.wakeIndex,
    partitions: shardsOf(WAKE_KEY, wakeShards),
    first: 'earliest',
    readAhead: READ_AHEAD,
    cursor: cursor?.startsWith(BY_WAKE) ? cursor.slice(1) : cursor,
  });
  const mayBe = ({ item }: IndexKey): boolean => isShown(item) && mayBeListed(openKeyOf(item), query);
  const page = await filteredPage(keys, query, read, mayBe, MAX_KEYS);
  return {
    ...page,
    ...(page.cursor === undefined ? {} : { cursor: `${BY_WAKE}${page.cursor}` }),
    orderedBy: 'wakeAt',
  };
}

interface Asked {
  readonly query: ListQuery;
  readonly bound: number;
  readonly isFirst: boolean;
}

/**
 * How long later pages use the keys that the first page read. An execution that has ended since is dropped
 * when its record is read.
 */
const READING_MS = 10_000;
const readings = new WeakMap<DynamoDBClient, Reading>();
interface Reading {
  /** The table, and the filter of its executions. */
  readonly what: string;
  readonly at: number;
  readonly open: Bounded<OpenKey>;
}

async function readFor(
  client: DynamoDBClient,
  options: OpenOptions,
  { query, bound, isFirst }: Asked,
): Promise<Bounded<OpenKey>> {
  const { atRiskAt, workflow, plan } = query;
  const conditions = equal({ workflow, plan });
  if (atRiskAt !== undefined) return readAtRisk(client, options, { at: atRiskAt, most: bound, conditions });
  const what = JSON.stringify([options.table, conditions]);
  const known = isFirst ? undefined : readings.get(client);
  const at = performance.now();
  const isUsable = known?.what === what && known.open.atLeast === undefined && at - known.at < READING_MS;
  if (isUsable) return known.open;
  const { items, atLeast } = await readAll(client, options.table, rangeOf(options), bound, {
    condition: allOf(conditions),
  });
  const open = boundedKeys(items, atLeast);
  readings.set(client, { what, at, open });
  return open;
}

const equal = (wanted: Readonly<Record<string, string | undefined>>): Condition[] =>
  Object.entries(wanted).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          {
            expression: `#${name} = :${name}`,
            names: { [`#${name}`]: name },
            values: { [`:${name}`]: { S: value } },
          },
        ],
  );

/** Joins the conditions with AND; undefined if there are none. */
const allOf = (conditions: readonly Condition[]): Condition | undefined =>
  conditions.length === 0
    ? undefined
    : {
        expression: conditions.map(({ expression }) => `(${expression})`).join(' AND '),
        names: Object.assign({}, ...conditions.map(({ names }) => names)) as Condition['names'],
        values: Object.assign({}, ...conditions.map(({ values }) => values)) as Condition['values'],
      };

async function pageByStart(
  all: readonly OpenKey[],
  after: Place | undefined,
  query: ListQuery,
  read: ReadExecutions,
): Promise<ListedPage> {
  const keys = all
    .filter((key) => mayBeListed(key, query) && (after === undefined || isAfter(key, after)))
    .sort((one, other) => (isAfter(one, other) ? 1 : -1));
  const items: Execution[] = [];
  for (let from = 0; from < keys.length; from += BATCH) {
    const batch = keys.slice(from, from + Math.max(1, Math.min(BATCH, query.limit - items.length)));
    const found = await read(batch.map(({ executionId }) => executionId));
    for (const [at, { executionId, startedAt }] of batch.entries()) {
      const execution = found.get(executionId);
      if (execution !== undefined && isListed(execution, query)) items.push(execution);
      const isLast = from + at === keys.length - 1;
      if (items.length < query.limit || isLast) continue;
      return { items, cursor: `${BY_START}${startedAt}_${executionId}`, orderedBy: 'startedAt' };
    }
    from += batch.length - BATCH;
  }
  return { items, orderedBy: 'startedAt' };
}

type Place = Pick<OpenKey, 'executionId' | 'startedAt'>;

/** Latest start first. */
const isAfter = (one: Place, other: Place): boolean =>
  one.startedAt < other.startedAt ||
  (one.startedAt === other.startedAt && one.executionId < other.executionId);

function parsePlace(cursor: string): Place {
  const [, startedAt, executionId = ''] = /^(\d{1,15})_(.+)$/.exec(cursor) ?? [];
  if (startedAt === undefined || !isExecutionId(executionId)) throw badCursor();
  return { startedAt: Number(startedAt), executionId };
}

/** Reads open executions, except parts of lists and mailboxes. */
export async function readOpen(
  client: DynamoDBClient,
  options: OpenOptions,
  most: number,
): Promise<Bounded<OpenKey>> {
  const { items, atLeast } = await readAll(client, options.table, rangeOf(options), most);
  return boundedKeys(items, atLeast);
}

/**
 * Finds overdue executions by a range on the index key, and other executions at risk by a filter on
 * attributes. Some may not be at risk: `atRiskSince` drops those later.
 */
async function readAtRisk(
  client: DynamoDBClient,
  options: OpenOptions,
  { at, most, conditions }: { readonly at: number; readonly most: number; readonly conditions: Condition[] },
): Promise<Bounded<OpenKey>> {
  // DynamoDB refuses a range that ends before it begins.
  const overdueUntil = Math.max(1, at - OVERDUE_RISK_MS + 1);
  const range = rangeOf(options);
  if (options.findAtRisk !== undefined) {
    const found = await options.findAtRisk(range.partitions, { at, dueBefore: overdueUntil }, most + 1);
    return boundedKeys(found.slice(0, most), found.length > most ? true : undefined);
  }
  const atRisk = {
    expression: '#riskAt <= :at OR #riskSince <= :at',
    names: { '#riskAt': 'riskAt', '#riskSince': 'riskSince' },
    values: { ':at': { N: String(at) } },
  };
  const [overdue, others] = await Promise.all([
    readAll(client, options.table, { ...range, until: overdueUntil }, most, { condition: allOf(conditions) }),
    readAll(client, options.table, { ...range, since: overdueUntil }, most, {
      condition: allOf([...conditions, atRisk]),
    }),
  ]);
  return boundedKeys([...overdue.items, ...others.items], overdue.atLeast ?? others.atLeast);
}

// If there are too many open executions, those due first are read.
const rangeOf = ({ wakeShards }: OpenOptions): KeyRange => ({
  index: TABLE.wakeIndex,
  partitions: shardsOf(WAKE_KEY, wakeShards),
  first: 'earliest',
});

const boundedKeys = (items: readonly Item[], atLeast: true | undefined): Bounded<OpenKey> => ({
  items: items.filter(isShown).map(openKeyOf),
  ...(atLeast === undefined ? {} : { atLeast }),
});

/**
 * False for parts of a list, which are shown with their parent, and for mailboxes, which are not executions.
 */
const isShown = (item: Item): boolean => item['isPart']?.BOOL !== true && !isOfMailbox(item);

function openKeyOf(item: Item): OpenKey {
  const riskSince = item['riskSince'] === undefined ? undefined : number(item, 'riskSince');
  return {
    executionId: idOfKey(item),
    workflow: text(item, 'workflow'),
    plan: text(item, 'plan'),
    status: text(item, 'openStatus') as ExecutionStatus,
    startedAt: number(item, 'startedAt'),
    wakeAt: number(item, TABLE.wakeIndex.sk),
    riskAt: number(item, 'riskAt'),
    ...(riskSince === undefined ? {} : { riskSince }),
  };
}
