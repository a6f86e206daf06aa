/**
 * Owns: asking DynamoDB for the consumed capacity of calls that did not ask, and reading it from the answers. Off unless
 * switched on: it costs a parse of every answer.
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

/** The body with `ReturnConsumedCapacity: TOTAL`, unless the caller says otherwise or the operation has none. */
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
