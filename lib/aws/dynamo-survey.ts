/**
 * Reads everything that is counted, from the indexes alone: open executions, bad ends, the inbox.
 *
 * Owns: these reads, and, if there are bad ends, reading how many executions were started. Does not own:
 * which items are counted (`core/operators/list-filter.ts`).
 *
 * At most about 10,000 of each are read, in pages of 1 MB.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  type Bounded,
  type EndedKey,
  MOST_OPEN,
  STATUS_GROUPS,
  type Survey,
} from '../core/operators/list-filter.ts';
import type { InboxKey } from '../core/records/question.ts';
import { defined } from '../core/values/defined.ts';
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
  latelySince: number = endedSince,
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
  const readSince = (since: number) => readBegun(client, options, since, workflows);
  const begun = ended.items.length === 0 ? undefined : await begunOf(readSince, endedSince, latelySince);
  return {
    open,
    ended: { ...ended, items: ended.items.map(endedKeyOf) },
    ...defined({ begun }),
    inbox,
  };
}

/** Spends read units on all open questions, even if only those below one execution are wanted. */
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

interface Begun {
  readonly workflow: string;
  readonly startedAt: number;
}

async function readBegun(
  client: DynamoDBClient,
  { table, mostOpen = MOST_OPEN }: OpenOptions,
  since: number,
  workflows: readonly string[],
): Promise<Bounded<Begun>> {
  const partitions = workflows.flatMap((workflow) => shardsOf(workflow, LIST_SHARDS));
  const { pk, sk } = TABLE.listIndex;
  const range = { index: TABLE.listIndex, partitions, since };
  const { items, ...bound } = await readAll(client, table, range, mostOpen, { attributes: [pk, sk] });
  const begun = items.map((item) => ({ workflow: unsharded(text(item, pk)), startedAt: number(item, sk) }));
  return { ...bound, items: begun };
}

/** Reads recent starts separately if there are more starts than are counted, which might not include them. */
async function begunOf(
  readSince: (since: number) => Promise<Bounded<Begun>>,
  since: number,
  latelySince: number,
): Promise<Survey['begun']> {
  const { items, ...bound } = await readSince(since);
  const lately =
    bound.atLeast === true
      ? await readSince(latelySince)
      : { items: items.filter(({ startedAt }) => startedAt >= latelySince) };
  return {
    count: items.length,
    ...bound,
    lately: { ...lately, items: lately.items.map(({ workflow }) => workflow) },
  };
}

/** The attributes that are counted, less than half of the index's. */
const OF_ENDED = ['workflow', 'startedAt', TABLE.endedIndex.pk, TABLE.codeIndex.pk];
const endedKeyOf = (item: Item): EndedKey => ({
  workflow: text(item, 'workflow'),
  startedAt: number(item, 'startedAt'),
  status: unsharded(text(item, TABLE.endedIndex.pk)) as ExecutionStatus,
  code: unsharded(text(item, TABLE.codeIndex.pk)),
});

const inboxKeyOf = (item: Item): InboxKey => ({
  executionId: idOfKey(item),
  kind: text(item, 'kind') as InboxKey['kind'],
  openedAt: number(item, 'openedAt'),
  deadlineAt: number(item, TABLE.listIndex.sk),
});
