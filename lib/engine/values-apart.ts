/**
 * Stores values that are too large for their records outside the table, before the records are written.
 *
 * Owns: which values are stored, and under which key. Does not own: the form of keys and fields
 * (`core/records/large-values.ts`), the write (`commit.ts`), loading (`large-values.ts`), removing objects
 * (the audit).
 *
 * V1 an object exists before the record that names it. A value passed on to another execution is stored
 * again, under that execution's key. If no value is large, no call is made.
 */

import type { Write } from '../core/decisions/decision.ts';
import type { LargeValues } from '../core/ports.ts';
import { holderOf, LARGE_VALUE_BYTES, type ValueHolder, valueKeyOf } from '../core/records/large-values.ts';
import type { Execution, Step } from '../core/records/state.ts';
import type { ValueRef } from '../core/records/value-ref.ts';
import { type Json, utf8Bytes } from '../core/values/json.ts';

type Owner = Pick<Execution, 'id' | 'life'>;

/**
 * Values that this process has stored or is storing, by execution, life, holder and hash: repeated and later
 * writes of a record name them again. An object stays as long as its execution in this life.
 */
const known = new WeakMap<LargeValues, Map<string, Promise<ValueRef>>>();
const MAX_KNOWN = 500;

/** The longest key that stores take; a value with a longer one stays in its record. */
const MAX_KEY_CHARS = 1_000;

/** Stores the large values of a write. @returns the write that names them */
export async function writeApart(largeValues: LargeValues, write: Write): Promise<Write> {
  const { executionId: id, execution, step } = write;
  return {
    ...write,
    ...(execution === undefined ? {} : { execution: await executionApart(largeValues, execution) }),
    ...(step === undefined ? {} : { step: await stepApart(largeValues, id, step) }),
  };
}

/** Stores the large values of the execution's record. @returns the record that names them */
export async function executionApart(largeValues: LargeValues, execution: Execution): Promise<Execution> {
  const { input, inputAt, output, outputAt, writeId } = execution;
  const put = { largeValues, owner: execution, writeId };
  const inputRef = await valueApart({ ...put, holder: 'input', value: input ?? undefined, named: inputAt });
  const outputRef = await valueApart({ ...put, holder: 'output', value: output, named: outputAt });
  let record = execution;
  if (inputRef !== undefined) record = { ...record, input: null, inputAt: inputRef };
  if (outputRef !== undefined) {
    const { output: _, ...rest } = record;
    record = { ...rest, outputAt: outputRef };
  }
  return record;
}

async function stepApart(largeValues: LargeValues, id: string, step: Step): Promise<Step> {
  const { name, life, writeId } = step;
  const put = { largeValues, owner: { id, life }, writeId, holder: holderOf(name) };
  const { output, outputAt, children } = step;
  const outputRef = await valueApart({ ...put, value: output, named: outputAt });
  let record = step;
  if (outputRef !== undefined) {
    const { output: _, ...rest } = record;
    record = { ...rest, outputAt: outputRef };
  }
  const { rounds } = children ?? {};
  const roundRef = await valueApart({ ...put, value: rounds?.input, named: rounds?.inputAt });
  if (roundRef === undefined || children === undefined || rounds === undefined) return record;
  const { input: _, ...rest } = rounds;
  return { ...record, children: { ...children, rounds: { ...rest, inputAt: roundRef } } };
}

interface Put {
  readonly largeValues: LargeValues;
  readonly owner: Owner;
  readonly writeId: string;
  readonly holder: ValueHolder;
  readonly value: Json | undefined;
  /** The value that the record already names. */
  readonly named: ValueRef | undefined;
}

/** @returns undefined if the value stays in the record */
async function valueApart(put: Put): Promise<ValueRef | undefined> {
  const { largeValues, owner, writeId, holder, value, named } = put;
  if (value === undefined || isShort(value)) return undefined;
  const json = JSON.stringify(value);
  const bytes = utf8Bytes(json);
  if (bytes <= (largeValues.above ?? LARGE_VALUE_BYTES)) return undefined;
  const hash = largeValues.hash(json);
  if (named?.hash === hash) return named;
  const ref: ValueRef = { hash, id: writeId, bytes };
  const key = valueKeyOf(owner, holder, ref);
  if (key.length > MAX_KEY_CHARS) return undefined;
  return putOnce(largeValues, [owner.id, owner.life, holder, hash].join('/'), async () => {
    await largeValues.put(key, json);
    return ref;
  });
}

function putOnce(largeValues: LargeValues, content: string, put: () => Promise<ValueRef>): Promise<ValueRef> {
  const all = known.get(largeValues) ?? new Map<string, Promise<ValueRef>>();
  known.set(largeValues, all);
  const before = all.get(content);
  if (before !== undefined) return before;
  const oldest = all.keys().next();
  if (all.size >= MAX_KNOWN && oldest.done !== true) all.delete(oldest.value);
  const putting = put();
  all.set(content, putting);
  putting.catch(() => all.delete(content));
  return putting;
}

const isShort = (value: Json): boolean => typeof value === 'number' || typeof value === 'boolean';
