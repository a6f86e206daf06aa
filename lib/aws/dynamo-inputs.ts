/**
 * Inputs that are stored beside their execution's record.
 *
 * Owns: which inputs these are, their items, and that an input is stored before a record names it. Does not
 * own: the record (`dynamo-items.ts`), or removing inputs that no record names (`supervisor/audit.ts`).
 *
 * Every write of a record costs a unit for each started KB of the whole record. An execution's record is
 * written at its start, twice at its end, and once at each end of a child. A larger input beside it is
 * written only once. Removing it costs a write of its size; a record expires free of charge, except a
 * child's, which the audit removes. An input is addressed by its content and its life. So two starts with one
 * idempotency key each find their own, whichever creates the execution, and removing one leaves the other.
 */

import { createHash } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Json } from '../core/values/json.ts';
import type { Execution } from '../core/records/state.ts';
import { executionKey, FORM, type Item, inputSk, isInputItem, jsonIn, sizeOf, text } from './dynamo-items.ts';
import { conditional, putOne } from './dynamo-put.ts';
import { TABLE } from './names.ts';

/** Bytes of one write unit. */
const UNIT = 1_024;
/**
 * How often an execution without children is written: its start, its end, and the announcement of its end.
 */
const WRITES = 3;
/** About how many bytes the end of an execution adds to its record. */
const END_BYTES = 100;

const units = (bytes: number): number => Math.ceil(bytes / UNIT);

/**
 * Returns the item for the input if that costs less than the input in the record; otherwise undefined.
 * @param whole the record's item with its input
 * @param isRemoved true if ended executions are removed after a retention
 */
export function inputApart(execution: Execution, whole: Item, isRemoved: boolean): Item | undefined {
  if (execution.inputKey !== undefined || execution.inputAt !== undefined) return undefined;
  const json = JSON.stringify(execution.input);
  const bytes = sizeOf(whole) + END_BYTES;
  const inputBytes = Buffer.byteLength(json);
  if (bytes <= UNIT) return undefined;
  const key = createHash('sha256').update(`${execution.life}\n${json}`).digest('base64url').slice(0, 22);
  const item: Item = {
    ...executionKey(execution.id),
    [TABLE.sk]: { S: inputSk(key) },
    ...FORM,
    version: { N: '1' },
    writeId: { S: execution.writeId },
    storedAt: { N: String(execution.startedAt) },
    json: { S: json },
  };
  const removals = isRemoved ? 1 : 0;
  const ofRecord = WRITES + (execution.parent === undefined ? 0 : removals);
  const apart = (1 + removals) * units(sizeOf(item)) + ofRecord * units(bytes - inputBytes);
  return apart < ofRecord * units(bytes) ? item : undefined;
}

/** Stores the input unless it is there. */
export async function putInput(client: DynamoDBClient, table: string, item: Item): Promise<void> {
  const { kind, stored } = await putOne(client, conditional(table, item, { version: 1 }));
  if (kind === 'conflict' && stored === undefined) throw new Error('the input of the execution is not kept');
}

/**
 * The input of a partition's execution.
 * @throws Error if it is missing, which only happens in a damaged table
 * @throws SteadfastError `table-form`
 */
export function inputIn(items: readonly Item[], key: string): Json {
  const item = items.find((one) => isInputItem(one) && text(one, TABLE.sk) === inputSk(key));
  if (item === undefined) throw new Error('the input of the execution is not in the state table');
  return jsonIn(item) as Json;
}
