/**
 * One page of a list.
 *
 * Owns: the filter, and how many keys are read. Does not own: the source of the keys and the executions.
 *
 * The index gives keys in order, and the executions behind them are read. If the filter drops some, reading
 * continues, up to 500 keys: the page may then be short, even empty, and still have a cursor.
 */

import { indexFor, isListed } from '../core/operators/list-filter.ts';
import type { ListQuery, Page } from '../core/ports.ts';
import type { Execution } from '../core/records/state.ts';
import { BATCH } from './dynamo-batch.ts';
import type { IndexKey, IndexKeys } from './dynamo-index-keys.ts';
import { idOfKey } from './dynamo-items.ts';

/** The most keys to read for one page. */
const MAX_KEYS = 500;

/** Reads the executions of a list. */
export type ReadExecutions = (ids: readonly string[]) => Promise<ReadonlyMap<string, Execution>>;

/** @param mayBe filters by the index alone, before executions are read. @param most keys of the page */
export async function filteredPage(
  keys: IndexKeys,
  query: ListQuery,
  read: ReadExecutions,
  mayBe: (key: IndexKey) => boolean = () => true,
  most: number = MAX_KEYS,
): Promise<Page<Execution>> {
  const { limit } = query;
  const items: Execution[] = [];
  const listed = new Set<string>();
  for (let seen = 0; seen < most && items.length < limit; ) {
    const wanted = isFiltered(query) ? BATCH : Math.min(limit - items.length, BATCH);
    const batch = await keys.peek(Math.min(wanted, most - seen));
    if (batch.length === 0) return { items };
    const found = await read(batch.filter(mayBe).map(({ item }) => idOfKey(item)));
    for (const { item } of batch) {
      if (items.length === limit) break;
      keys.take();
      seen += 1;
      const execution = found.get(idOfKey(item));
      // Two incidents of one execution may have the same code.
      if (execution === undefined || listed.has(execution.id) || !isListed(execution, query)) continue;
      listed.add(execution.id);
      items.push(execution);
    }
  }
  return (await keys.peek(1)).length === 0 ? { items } : { items, cursor: keys.cursor() };
}

const isFiltered = ({ workflow, statuses, plan, atRiskAt, ...query }: ListQuery): boolean =>
  statuses !== undefined ||
  plan !== undefined ||
  atRiskAt !== undefined ||
  (workflow !== undefined && indexFor(query) !== 'list');
