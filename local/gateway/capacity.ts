/**
 * Measures consumed capacity: adds the request for it to calls, reads it from answers, and computes that of
 * refused writes, because no answer contains it. It is off by default, because each answer must be parsed.
 */
import { isRecord, type Json } from '../template/json.ts';

/** Operations that know `ReturnConsumedCapacity`. */
const METERED = new Set([
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'BatchGetItem',
  'BatchWriteItem',
  'TransactGetItems',
  'TransactWriteItems',
]);
const OPEN_BRACE_BYTES = 1;

/**
 * Adds `ReturnConsumedCapacity: TOTAL` to a body, if it has no such setting and the operation supports it.
 */
export function askingForCapacity(operation: string, body: Buffer): Buffer {
  if (!METERED.has(operation) || body.includes('"ReturnConsumedCapacity"')) return body;
  return Buffer.concat([Buffer.from('{"ReturnConsumedCapacity":"TOTAL",'), body.subarray(OPEN_BRACE_BYTES)]);
}

/** The capacity units in an answer; a list of tables is summed up. */
export function capacityOf(body: Buffer | string): number {
  const answer = JSON.parse(body.toString()) as Json;
  const consumed = isRecord(answer) ? answer['ConsumedCapacity'] : undefined;
  let units = 0;
  for (const table of Array.isArray(consumed) ? consumed : [consumed]) {
    if (isRecord(table) && typeof table['CapacityUnits'] === 'number') units += table['CapacityUnits'];
  }
  return units;
}

const REFUSALS = ['ConditionalCheckFailedException', 'TransactionCanceledException'];
const UNIT_BYTES = 1_024;
const TRANSACTION = 2;

/**
 * The capacity of a write whose condition was false: that of a successful write by the larger of the old and
 * the new item, and twice that in a transaction (developer guide, "DynamoDB read and write operations"). This
 * counts the length of the new item's JSON text, slightly more than DynamoDB does. Indexes are not written.
 * Other errors consume nothing.
 */
export function refusedCapacityOf(body: Buffer, answer: Buffer | string): number {
  const failure = answer.toString();
  if (!REFUSALS.some((name) => failure.includes(name))) return 0;
  const { TransactItems: all, ...one } = JSON.parse(body.toString()) as Readonly<Record<string, Json>>;
  if (!Array.isArray(all)) return unitsOf(one);
  const writes = all.flatMap((each) => (isRecord(each) ? Object.values(each) : []));
  return writes.reduce<number>((sum, write) => sum + TRANSACTION * unitsOf(write), 0);
}

const unitsOf = (write: Json | undefined): number => {
  const item = isRecord(write) ? write['Item'] : undefined;
  return item === undefined ? 1 : Math.ceil(Buffer.byteLength(JSON.stringify(item)) / UNIT_BYTES);
};
