/**
 * Lists executions by a filter, from the index that has them in order.
 *
 * Owns: which partitions are read, and reading the executions behind their keys. Does not own: which index
 * serves a filter (`core/operators/list-filter.ts`), the order of the keys and the cursor
 * (`dynamo-index-keys.ts`), the page (`dynamo-page.ts`), open executions (`dynamo-open.ts`).
 *
 * Never scans. A page costs one query per partition (four for each workflow, each status and each code, and
 * four in each of three indexes for a tag), then at most one for every 25 keys, each with one batch of up to
 * 100 executions.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  indexFor,
  isOfPlan,
  isOfWorkflow,
  type ListOrder,
  STATUS_GROUPS,
} from '../core/operators/list-filter.ts';
import { sayable } from '../core/values/errors.ts';
import type { ListedPage, ListQuery, Log } from '../core/ports.ts';
import type { Execution } from '../core/records/state.ts';
import { keyText, readItems } from './dynamo-batch.ts';
import { type IndexKey, IndexKeys, type KeyRange } from './dynamo-index-keys.ts';
import { LIST_SHARDS, shardsOf, tagKey } from './dynamo-indexes.ts';
import { executionKey, executionOf, idOfKey, type Item, text } from './dynamo-items.ts';
import { type OpenOptions, openPage } from './dynamo-open.ts';
import { filteredPage } from './dynamo-page.ts';
import { TABLE, TAG_INDEXES } from './names.ts';

export interface ListOptions extends OpenOptions {
  /** Gets a note for each execution that a list leaves out. @default no notes */
  readonly log?: Log;
}

export async function listPage(
  client: DynamoDBClient,
  options: ListOptions,
  query: ListQuery,
): Promise<ListedPage> {
  const { table, log } = options;
  const read = (ids: readonly string[]) => readExecutions(client, table, ids, log);
  if (indexFor(query) === 'wake') return openPage(client, options, query, read);
  const { orderedBy, range } = rangeOf(query);
  const keys = new IndexKeys(client, table, { ...range, cursor: query.cursor });
  return { ...(await filteredPage(keys, query, read, mayBeEnded(query))), orderedBy };
}

/** Filters by the index of bad ends alone, without reading executions' records. */
function mayBeEnded(query: ListQuery): (key: IndexKey) => boolean {
  if (indexFor(query) !== 'ended') return () => true;
  return ({ item }) =>
    isOfWorkflow({ workflow: text(item, 'workflow') }, query) &&
    isOfPlan({ plan: text(item, 'plan') }, query);
}

function rangeOf(query: ListQuery): { readonly orderedBy: ListOrder; readonly range: KeyRange } {
  const { since, until } = query;
  const ofShards = (keys: readonly string[]): readonly string[] =>
    keys.flatMap((key) => shardsOf(key, LIST_SHARDS));
  switch (indexFor(query)) {
    case 'tag': {
      const { name = '', value = '' } = query.tag ?? {};
      const [index = TABLE.listIndex, ...others] = TAG_INDEXES;
      const partitions = ofShards([tagKey(name, value)]);
      return { orderedBy: 'startedAt', range: { index, others, partitions, since, until } };
    }
    case 'code':
      return {
        orderedBy: 'codeAt',
        range: { index: TABLE.codeIndex, partitions: ofShards([query.code ?? '']), since, until },
      };
    case 'ended':
      return {
        orderedBy: 'endedAt',
        range: {
          index: TABLE.endedIndex,
          partitions: ofShards(query.statuses ?? STATUS_GROUPS.bad),
          since,
          until,
        },
      };
    default:
      return {
        orderedBy: 'startedAt',
        range: { index: TABLE.listIndex, partitions: ofShards(query.workflows), since, until },
      };
  }
}

async function readExecutions(
  client: DynamoDBClient,
  table: string,
  ids: readonly string[],
  log: Log | undefined,
): Promise<ReadonlyMap<string, Execution>> {
  const keys = [...new Set(ids)].map(executionKey);
  const found = keys.length === 0 ? new Map<string, Item>() : await readItems(client, table, keys);
  const executions = keys.flatMap((key): [string, Execution][] => {
    const item = found.get(keyText(key));
    const execution = item && readable(item, log);
    return execution === undefined ? [] : [[execution.id, execution]];
  });
  return new Map(executions);
}

/**
 * Leaves out and notes an execution that is damaged or written by a later release, so that the others can be
 * listed.
 */
function readable(item: Item, log: Log | undefined): Execution | undefined {
  try {
    return executionOf(item);
  } catch (error) {
    log?.note({ what: 'list-left-out', executionId: idOfKey(item), detail: sayable(error) });
    return undefined;
  }
}
