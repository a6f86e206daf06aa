/**
 * What there is to be counted: open executions, bad ends, the inbox, by the indexes alone.
 *
 * Owns: the three reads, and where there are bad ends the one of how many were started. Does
 * not own: what is counted of them.
 *
 * At most about 10,000 of each are read, in pages of 1 MB.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  type Bounded,
  type EndedKey,
  MOST_OPEN,
  type InboxKey,
  STATUS_GROUPS,
  type Survey,
} from '../core/operators/list-filter.ts';
import { given } from '../core/values/given.ts';
import type { ExecutionStatus } from '../core/moves.ts';
import { type Condition, type KeyRange, readAll } from './dynamo-index-keys.ts';
import { LIST_SHARDS, INBOX_SHARDS, INBOX_KEY, shardsOf, unsharded } from './dynamo-indexes.ts';
import { executionKey, idOfKey, type Item, number, text } from './dynamo-items.ts';
import { type OpenOptions, readOpen } from './dynamo-open.ts';
import { TABLE } from './names.ts';

export async function readSurvey(
  client: DynamoDBClient,
  options: OpenOptions,
  endedSince: number,
  workflows: readonly string[],
): Promise<Survey> {
  const { table, mostOpen = MOST_OPEN } = options;
  const bad = STATUS_GROUPS.bad.flatMap((status) => shardsOf(status, LIST_SHARDS));
  const [open, ended, inbox] = await Promise.all([
    readOpen(client, options, mostOpen),
    readAll(client, table, { index: TABLE.endedIndex, partitions: bad, since: endedSince }, mostOpen, {
      attributes: OF_ENDED,
    }),
    readAsked(client, options),
  ]);
  const begun =
    ended.items.length === 0 ? undefined : await readBegun(client, options, endedSince, workflows);
  return {
    open,
    ended: { ...ended, items: ended.items.map(endedKeyOf) },
    ...given({ begun }),
    inbox,
  };
}

/** Read units are spent on all open questions, also where those below one execution are asked for. */
export async function readAsked(
  client: DynamoDBClient,
  { table, mostOpen = MOST_OPEN }: OpenOptions,
  below?: string,
): Promise<Bounded<InboxKey>> {
  const partitions = shardsOf(INBOX_KEY, INBOX_SHARDS);
  const range: KeyRange = { index: TABLE.listIndex, partitions, first: 'earliest' };
  const condition = below === undefined ? undefined : isBelow(below);
  const { items, ...bound } = await readAll(client, table, range, mostOpen, { condition });
  return { ...bound, items: items.map(inboxKeyOf) };
}

/** The id of a child begins with its parent's and a dot. */
const isBelow = (executionId: string): Condition => ({
  expression: 'begins_with(#pk, :below)',
  names: { '#pk': TABLE.pk },
  values: { ':below': { S: `${text(executionKey(executionId), TABLE.pk)}.` } },
});

async function readBegun(
  client: DynamoDBClient,
  { table, mostOpen = MOST_OPEN }: OpenOptions,
  since: number,
  workflows: readonly string[],
): Promise<Survey['begun']> {
  const partitions = workflows.flatMap((workflow) => shardsOf(workflow, LIST_SHARDS));
  const attributes = [TABLE.listIndex.sk];
  const range = { index: TABLE.listIndex, partitions, since };
  const { items, ...bound } = await readAll(client, table, range, mostOpen, { attributes });
  return { count: items.length, ...bound };
}

/** Less than a third of what its index has. */
const OF_ENDED = ['workflow', TABLE.endedIndex.pk, TABLE.codeIndex.pk];
const endedKeyOf = (item: Item): EndedKey => ({
  workflow: text(item, 'workflow'),
  status: unsharded(text(item, TABLE.endedIndex.pk)) as ExecutionStatus,
  code: unsharded(text(item, TABLE.codeIndex.pk)),
});

const inboxKeyOf = (item: Item): InboxKey => ({
  executionId: idOfKey(item),
  kind: text(item, 'kind') as InboxKey['kind'],
  openedAt: number(item, 'openedAt'),
  deadlineAt: number(item, TABLE.listIndex.sk),
});
