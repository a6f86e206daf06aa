/**
 * The attributes that an item has for the indexes, and what their keys say. Pure.
 *
 * Owns: the keys of the indexes, their shards, and derived attributes that they project. Does not own: which
 * indexes there are (`names.ts`), the items (`dynamo-items.ts`), reading them (`dynamo-index-keys.ts`,
 * `dynamo-open.ts`).
 *
 * Everything is derived from the record. DynamoDB writes an index again whenever a projected attribute
 * changes, so for an execution that ends well they change only together with the wake time.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { badEndOf } from '../core/operators/list-filter.ts';
import { isIncident, type Question } from '../core/records/question.ts';
import { riskAt } from '../core/records/risk.ts';
import { type Execution, isTerminal } from '../core/records/state.ts';
import type { ExecutionStatus } from '../core/moves.ts';
import { TABLE, TAG_INDEXES } from './names.ts';

type Attributes = Record<string, AttributeValue>;

/**
 * The number of shards of each list key: of a workflow, of the status of an end without success, of a code,
 * of a tag's value.
 */
export const LIST_SHARDS = 4;
/**
 * Shards of the inbox of all workflows: one key takes about 1,000 writes a second, and an outage opens many
 * incidents at once.
 */
export const INBOX_SHARDS = 8;

/** FNV-1a: spreads ids evenly; the same id always has the same shard. */
export function shardOf(id: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % shards;
}

const sharded = (key: string, shard: number): string => `${key}#${shard}`;
/** The keys of all shards. */
export const shardsOf = (key: string, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => sharded(key, shard));
/** A key without its shard. */
export const unsharded = (key: string): string => key.slice(0, key.lastIndexOf('#'));

export const WAKE_KEY = 'wake';
export const wakeShardKey = (shard: number): string => sharded(WAKE_KEY, shard);
/** Open questions, all workflows together. */
export const INBOX_KEY = 'incident#open';

/** Derived: none of these is a field of a record. */
export const INDEX_ATTRIBUTES = [
  TABLE.wakeIndex.pk,
  TABLE.listIndex.pk,
  TABLE.endedIndex.pk,
  TABLE.codeIndex.pk,
  TABLE.codeIndex.sk,
  'openStatus',
  'riskAt',
  'isPart',
  ...TAG_INDEXES.map(({ pk }) => pk),
];

export function indexedExecution(execution: Execution, wakeShards: number): Attributes {
  const { id, workflow, parent, wakeAt } = execution;
  const isPart = parent?.part === true;
  return {
    // A part of a list is shown in its parent, not by itself.
    ...(isPart ? {} : { [TABLE.listIndex.pk]: { S: sharded(workflow, shardOf(id, LIST_SHARDS)) } }),
    ...(wakeAt === undefined
      ? {}
      : {
          [TABLE.wakeIndex.pk]: { S: wakeShardKey(shardOf(id, wakeShards)) },
          openStatus: { S: openStatus(execution) },
          riskAt: { N: String(riskAt(execution)) },
          ...(isPart ? { isPart: { BOOL: true } } : {}),
        }),
    ...(isPart ? {} : endedBadly(execution)),
    ...tagged(execution),
  };
}

/**
 * The open status of an execution in the index. Until its end is announced it keeps the one before: the write
 * that ends it changes neither the wake time nor the index.
 */
function openStatus({ status }: Execution): ExecutionStatus {
  if (!isTerminal(status)) return status;
  return status === 'succeeded' ? 'running' : 'compensating';
}

export const tagKey = (name: string, value: string): string => `${name}=${value}`;

function tagged({ id, search = [], tags = {} }: Execution): Attributes {
  const shard = shardOf(id, LIST_SHARDS);
  const keys = TAG_INDEXES.flatMap(({ pk }, at): [string, AttributeValue][] => {
    const name = search[at];
    const value = name === undefined ? undefined : tags[name];
    return name === undefined || value === undefined
      ? []
      : [[pk, { S: sharded(tagKey(name, value), shard) }]];
  });
  return Object.fromEntries(keys);
}

function endedBadly(execution: Execution): Attributes {
  const end = badEndOf(execution);
  if (end === undefined) return {};
  const shard = shardOf(execution.id, LIST_SHARDS);
  return {
    [TABLE.endedIndex.pk]: { S: sharded(execution.status, shard) },
    [TABLE.codeIndex.pk]: { S: sharded(end.code, shard) },
    [TABLE.codeIndex.sk]: { N: String(end.endedAt) },
  };
}

/**
 * The index attributes of an open question. The list index sorts by `startedAt`, which is a question's
 * deadline: urgent ones come first.
 */
export const indexedQuestion = (executionId: string, question: Question): Attributes => ({
  [TABLE.listIndex.pk]: { S: sharded(INBOX_KEY, shardOf(executionId, INBOX_SHARDS)) },
  [TABLE.listIndex.sk]: { N: String(question.deadlineAt) },
  ...(isIncident(question)
    ? {
        [TABLE.codeIndex.pk]: { S: sharded(question.failure.code, shardOf(executionId, LIST_SHARDS)) },
        [TABLE.codeIndex.sk]: { N: String(question.openedAt) },
      }
    : {}),
});
