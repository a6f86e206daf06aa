/**
 * The commands that concern single items: get, put, delete, several in a batch or a transaction.
 *
 * Owns: conditions, limits, cancellation reasons. Does not own: pages (`pages.ts`), the time of commits
 * (`group.ts`).
 *
 * A write has two halves. The first reads the call and may refuse it; it runs at once, so that the caller may
 * change its arguments afterwards. The second runs in the commit: it checks all conditions, then writes, and
 * nothing is refused in between.
 */

import type {
  BatchGetItemCommandInput,
  BatchGetItemCommandOutput,
  CancellationReason,
  DeleteItemCommandInput,
  GetItemCommandInput,
  PutItemCommandInput,
  TransactWriteItem,
  TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../lib/aws/names.ts';
import { type Expression, expressionOf, type Given, holds, nameOf, refuseUnused } from './expressions.ts';
import { type Key, keyIn, keyOnly, keyText } from './keys.ts';
import { canceled, conditionFailed, invalid, noSuchTable } from './refusals.ts';
import type { Stored } from './recent-rows.ts';
import { readyItem, type Table } from './table.ts';
import { type Item, MAX_ITEM_BYTES } from './values.ts';

const MAX_TRANSACTION_PARTS = 100;
const MAX_TRANSACTION_BYTES = 4 * 1_048_576;
const MAX_BATCH_KEYS = 100;
const MAX_BATCH_BYTES = 16 * 1_048_576;

export interface Answer {
  readonly [name: string]: unknown;
}

/** One write that has passed its first half. */
interface Part extends Key {
  readonly bytes: number;
  readonly condition: Expression | undefined;
  readonly given: Given;
  readonly showsStored: boolean;
  readonly write: (before: Stored | undefined) => void;
  /** Writes an item that must not exist, without reading first. */
  readonly add?: (() => boolean) | undefined;
}

type Conditional = Given &
  Pick<PutItemCommandInput, 'ConditionExpression' | 'ReturnValuesOnConditionCheckFailure'>;

function partOf(key: Key, input: Conditional, bytes: number, write: Part['write']): Part {
  const { ConditionExpression } = input;
  const condition = ConditionExpression === undefined ? undefined : expressionOf(ConditionExpression);
  refuseUnused(input, [condition]);
  // Copies what the commit reads, because the caller may change its arguments.
  const given = {
    ExpressionAttributeNames: input.ExpressionAttributeNames,
    ExpressionAttributeValues: input.ExpressionAttributeValues,
  };
  // Evaluates once now, so that an undefined name or value is refused before the commit.
  if (condition !== undefined) holds(condition.root, given, {});
  return {
    ...key,
    bytes,
    condition,
    given,
    showsStored: input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD',
    write,
  };
}

function putPart(table: Table, input: Conditional & { readonly Item: Item | undefined }): Part {
  const item = input.Item ?? {};
  const { pk, sk } = keyIn(item);
  const ready = readyItem(item, pk, sk);
  if (ready.bytes > MAX_ITEM_BYTES) throw invalid('Item size has exceeded the maximum allowed size');
  const part = partOf({ pk, sk }, input, ready.bytes, (before) => table.write(ready, before));
  return asksForNone(part) ? { ...part, add: () => table.add(ready) } : part;
}

const deletePart = (table: Table, input: Conditional & { readonly Key: Item | undefined }): Part =>
  partOf(keyOnly(input.Key), input, 0, (before) => {
    if (before !== undefined) table.remove(before);
  });

const checkPart = (input: Conditional & { readonly Key: Item | undefined }): Part =>
  partOf(keyOnly(input.Key), input, 0, () => undefined);

/** Whether the condition is that the record does not exist, as in every second write. */
function asksForNone({ condition, given }: Part): boolean {
  const root = condition?.root;
  if (root?.is !== 'exists' || root.wanted || !('path' in root.path)) return false;
  return nameOf(root.path.path, given) === TABLE.pk;
}

const isMet = ({ condition, given }: Part, before: Stored | undefined): boolean =>
  condition === undefined || holds(condition.root, given, before?.item ?? {});

function single(table: Table, part: Part, isOldShown: boolean): () => Answer {
  return () => {
    if (part.add?.() === true) return {};
    const before = table.read(part.pk, part.sk);
    if (!isMet(part, before)) throw conditionFailed(part.showsStored ? before?.item : undefined);
    part.write(before);
    return isOldShown && before !== undefined ? { Attributes: before.item } : {};
  };
}

export const put = (table: Table, input: PutItemCommandInput): (() => Answer) =>
  single(table, putPart(table, input), showsOld(input));

export const remove = (table: Table, input: DeleteItemCommandInput): (() => Answer) =>
  single(table, deletePart(table, input), showsOld(input));

function showsOld({ ReturnValues }: Pick<PutItemCommandInput, 'ReturnValues'>): boolean {
  if (ReturnValues !== undefined && ReturnValues !== 'NONE' && ReturnValues !== 'ALL_OLD')
    throw invalid('ReturnValues can only be ALL_OLD or NONE');
  return ReturnValues === 'ALL_OLD';
}

/** Writes all parts or none. Transactions never overlap, because commits run one after the other. */
export function transact(table: Table, name: string, input: TransactWriteItemsCommandInput): () => Answer {
  const given = input.TransactItems ?? [];
  if (given.length < 1 || given.length > MAX_TRANSACTION_PARTS)
    throw invalid(
      `Value at 'transactItems' failed to satisfy constraint: Member must have length from 1 to ${MAX_TRANSACTION_PARTS}`,
    );
  const parts = given.map((one) => transactedPart(table, name, one));
  if (new Set(parts.map(keyText)).size < parts.length)
    throw invalid('Transaction request cannot include multiple operations on one item');
  if (parts.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_TRANSACTION_BYTES)
    throw invalid(
      'Collection size of items exceeded, which can also be caused by the aggregate size of the items in the transaction exceeding the 4MB limit',
    );
  return () => {
    const found = parts.map(({ pk, sk }) => table.read(pk, sk));
    const reasons = parts.map((part, at): CancellationReason => {
      const before = found[at];
      if (isMet(part, before)) return { Code: 'None' };
      const failed = { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' };
      return part.showsStored && before !== undefined ? { ...failed, Item: before.item } : failed;
    });
    if (reasons.some(({ Code }) => Code !== 'None')) throw canceled(reasons);
    for (const [at, part] of parts.entries()) part.write(found[at]);
    return {};
  };
}

function transactedPart(table: Table, name: string, one: TransactWriteItem): Part {
  const { Put, Delete, ConditionCheck, Update } = one;
  const [own, ...more] = [Put, Delete, ConditionCheck, Update].filter((part) => part !== undefined);
  if (own === undefined || more.length > 0)
    throw invalid('TransactItems can only contain one of Check, Put, Update or Delete');
  if (own.TableName !== name) throw noSuchTable();
  if (Put !== undefined) return putPart(table, Put);
  if (Delete !== undefined) return deletePart(table, Delete);
  if (ConditionCheck !== undefined) return checkPart(ConditionCheck);
  throw invalid('an update is not made here: records are put whole');
}

export function get(table: Table, input: GetItemCommandInput): Answer {
  if (input.ProjectionExpression !== undefined) throw invalid('an item is read whole here');
  const { pk, sk } = keyOnly(input.Key);
  const stored = table.read(pk, sk);
  return stored === undefined ? {} : { Item: stored.item };
}

/** Reads keys of one table. Items beyond 16 MB are left to the next call. */
export function getBatch(
  table: Table,
  name: string,
  input: BatchGetItemCommandInput,
): Pick<BatchGetItemCommandOutput, 'Responses' | 'UnprocessedKeys'> {
  const { [name]: wanted, ...others } = input.RequestItems ?? {};
  if (wanted === undefined || Object.keys(others).length > 0) throw noSuchTable();
  const given = wanted.Keys ?? [];
  if (given.length < 1 || given.length > MAX_BATCH_KEYS)
    throw invalid(
      `Value at 'Keys' failed to satisfy constraint: Member must have length from 1 to ${MAX_BATCH_KEYS}`,
    );
  const keys = given.map(keyOnly);
  if (new Set(keys.map(keyText)).size < keys.length)
    throw invalid('Provided list of item keys contains duplicates');
  const items: Item[] = [];
  let bytes = 0;
  for (const [at, { pk, sk }] of keys.entries()) {
    const row = table.row(pk, sk);
    if (row === undefined) continue;
    if (bytes + row.bytes > MAX_BATCH_BYTES) {
      const left = keys.slice(at).map((key) => ({ [TABLE.pk]: { S: key.pk }, [TABLE.sk]: { S: key.sk } }));
      return { Responses: { [name]: items }, UnprocessedKeys: { [name]: { Keys: left } } };
    }
    bytes += row.bytes;
    items.push(row.item);
  }
  return { Responses: { [name]: items }, UnprocessedKeys: {} };
}
