/**
 * Records ⇄ DynamoDB items, and the keys. Pure.
 *
 * Owns: the spelling of keys and attributes (one table, `pk` and `sk`). Does not own: the attributes that the
 * indexes add (`dynamo-indexes.ts`), conditions (`dynamo-store.ts`).
 *
 * Keys are built from checked names only. Every item names the form in which it is written; code refuses
 * every form but its own. A field is an attribute of its own if DynamoDB reads it back exactly. All others
 * are in one JSON text, so that no field is forgotten.
 */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Plan } from '../core/plan/plan.ts';
import { refuse } from '../core/values/errors.ts';
import { isIncident, isOpen, type Question } from '../core/records/question.ts';
import type { Json } from '../core/values/json.ts';
import { isExecutionId, isStepName } from '../core/values/names.ts';
import { expiresAt } from '../core/records/retention.ts';
import type { Attempt, Execution, Step } from '../core/records/state.ts';
import { childrenOf, groupedChildren } from './children-text.ts';
import { INDEX_ATTRIBUTES, indexedExecution, indexedQuestion } from './dynamo-indexes.ts';
import { TABLE } from './names.ts';

export type Item = Record<string, AttributeValue>;

/** The form that every item of the table names; raise it for a change that other code would read wrongly. */
export const FORM: Item = { v: { N: '3' } };

const EXECUTION_SK = 'exec';
const STEP_PREFIX = 'step#';

/** All records of an execution but its mailbox. */
export const executionPartition = (id: string): string => `exec#${checkedId(id)}`;

export const executionKey = (id: string): Item => ({
  pk: { S: executionPartition(id) },
  sk: { S: EXECUTION_SK },
});

export const stepKey = (id: string, name: string): Item => {
  if (!isStepName(name)) throw refuse('bad-key', `'${name}' is not a step's name`);
  return { pk: { S: executionPartition(id) }, sk: { S: `${STEP_PREFIX}${name}` } };
};

export const planKey = (hash: string): Item => ({ pk: { S: `plan#${checkedId(hash)}` }, sk: { S: 'plan' } });

function checkedId(id: string): string {
  if (!isExecutionId(id)) throw refuse('bad-key', 'an id for a key has characters that are not allowed');
  return id;
}

export const idOfKey = (item: Item): string => text(item, TABLE.pk).slice('exec#'.length);

/** Fields that an item leaves out at these values, so that a healthy step's item fits into one write unit. */
const EXECUTION_DEFAULTS: Readonly<Record<string, unknown>> = { epoch: 1 };
const STEP_DEFAULTS: Readonly<Record<string, unknown>> = {
  heartbeat: 0,
  probes: 0,
  undoAttempt: 0,
  stage: 0,
  stageAttempt: 0,
  key: 1,
  keyVariant: 0,
  mayHaveActed: false,
  epoch: 1,
};

/** @param retentionMs how long the execution is kept after its end; absent: for ever */
export function executionItem(execution: Execution, wakeShards: number, retentionMs?: number): Item {
  const { id, inputKey, inputAt } = execution;
  const left = ['id', ...(['commands', 'dispatches'] as const).filter((key) => isEmpty(execution[key]))];
  if (inputKey !== undefined || inputAt !== undefined) left.push('input');
  const item: Item = {
    ...executionKey(id),
    ...attributes(execution, EXECUTION_DEFAULTS, left),
  };
  Object.assign(item, indexedExecution(execution, wakeShards));
  const goneAt = retentionMs === undefined ? undefined : expiresAt(execution, retentionMs);
  // In seconds, as DynamoDB requires. A restart puts the whole record, which removes it.
  if (goneAt !== undefined) item[TABLE.ttl] = { N: String(Math.ceil(goneAt / 1_000)) };
  return item;
}

/** @param input the input if it is not in the item itself */
export function executionOf(item: Item, input: Json = null): Execution {
  const base = { ...EXECUTION_DEFAULTS, commands: [], dispatches: {}, id: idOfKey(item), input };
  return { ...base, ...values(item) } as unknown as Execution;
}

export function stepItem(executionId: string, step: Step): Item {
  const { name, attempts, children } = step;
  const isKnown = attempts.length <= 1 && JSON.stringify(attempts) === JSON.stringify(onlyAttempt(step));
  const left = isKnown ? ['name', 'attempts'] : ['name'];
  const stored = children === undefined ? step : { ...step, children: groupedChildren(children) };
  return { ...stepKey(executionId, name), ...attributes(stored, STEP_DEFAULTS, left) };
}

export function stepOf(item: Item): Step {
  const base = { ...STEP_DEFAULTS, name: text(item, TABLE.sk).slice(STEP_PREFIX.length) };
  const stored = { ...base, ...values(item) } as unknown as Step;
  const step = stored.children === undefined ? stored : { ...stored, children: childrenOf(stored.children) };
  return { ...step, attempts: stored.attempts ?? onlyAttempt(step) };
}

/**
 * Rebuilds the history of a step that was done at its first attempt. The item omits it: it would be a fifth
 * of the item, and every read of the execution reads the item again.
 */
function onlyAttempt({ status, attempt, mode, token, claimedAt, changedAt }: Step): readonly Attempt[] {
  if (status !== 'done' || mode !== 'execute' || token === undefined || claimedAt === undefined) return [];
  return [{ number: attempt, mode, claimedAt, endedAt: changedAt, outcome: 'done' }];
}

export const INCIDENT_PREFIX = 'incident#';

/**
 * The prefix of a question's sort key. It sorts after the execution's own sort key, so that a read of the
 * partition begins with the execution.
 */
const INBOX_PREFIX = 'inbox#';

export const questionKeyOf = (executionId: string, question: Question): Item => ({
  ...executionKey(executionId),
  [TABLE.sk]: {
    S: isIncident(question) ? `${INCIDENT_PREFIX}${question.number}` : `${INBOX_PREFIX}${question.step}`,
  },
});

export function questionItem(executionId: string, question: Question): Item {
  const left = isIncident(question) ? ['number'] : ['step'];
  const item: Item = {
    ...questionKeyOf(executionId, question),
    ...attributes(question, {}, left),
  };
  return isOpen(question) ? { ...item, ...indexedQuestion(executionId, question) } : item;
}

export function questionOf(item: Item): Question {
  const { [TABLE.listIndex.sk]: _listed, ...rest } = values(item);
  const sk = text(item, TABLE.sk);
  const key = sk.startsWith(INBOX_PREFIX)
    ? { step: sk.slice(INBOX_PREFIX.length) }
    : { number: Number(sk.slice(INCIDENT_PREFIX.length)) };
  return { ...key, ...rest } as unknown as Question;
}

const INPUT_PREFIX = 'input#';
/** @param key the input's name in the execution's record: a hash of its content */
export const inputSk = (key: string): string => `${INPUT_PREFIX}${key}`;
export const inputKeyOf = (item: Item): string => text(item, TABLE.sk).slice(INPUT_PREFIX.length);

export const isInputItem = (item: Item): boolean => text(item, TABLE.sk).startsWith(INPUT_PREFIX);
export const isQuestionItem = (item: Item): boolean =>
  [INCIDENT_PREFIX, INBOX_PREFIX].some((prefix) => text(item, TABLE.sk).startsWith(prefix));
export const isStepItem = (item: Item): boolean => text(item, TABLE.sk).startsWith(STEP_PREFIX);
export const isExecutionItem = (item: Item): boolean => text(item, TABLE.sk) === EXECUTION_SK;

export const planItem = (hash: string, plan: Plan): Item => ({
  ...planKey(hash),
  ...FORM,
  json: { S: JSON.stringify(plan) },
});

export const planOf = (item: Item): Plan => jsonIn(item) as Plan;

/**
 * The JSON text of an item.
 * @throws SteadfastError `table-form`
 */
export function jsonIn(item: Item): unknown {
  refuseOtherForm(item);
  return JSON.parse(text(item, 'json'));
}

export const text = (item: Item, attribute: string): string => item[attribute]?.S ?? '';
export const number = (item: Item, attribute: string): number => Number(item[attribute]?.N ?? Number.NaN);

/** The size by DynamoDB's rule: names and values, and for a number about half of its digits. */
export const sizeOf = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, { S, N }]) => {
    const bytes = N === undefined ? Buffer.byteLength(S ?? ' ') : Math.ceil(N.length / 2) + 1;
    return sum + name.length + bytes;
  }, 0);

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** @param left the fields to leave out */
function attributes(
  record: object,
  defaults: Readonly<Record<string, unknown>>,
  left: readonly string[],
): Item {
  const item: Item = { ...FORM };
  const others: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(record)) {
    if (value === undefined || value === defaults[key] || left.includes(key)) continue;
    const attribute = attributeOf(value);
    if (attribute === undefined) others[key] = value;
    else item[key] = attribute;
  }
  return isEmpty(others) ? item : { ...item, json: { S: JSON.stringify(others) } };
}

/**
 * The attribute for a value (a payload may be a string or number, too); undefined if DynamoDB would not read
 * it back exactly. It does so for a fraction, and a time with a fraction must be in its index.
 */
function attributeOf(value: unknown): AttributeValue | undefined {
  if (typeof value === 'string' && value.isWellFormed()) return { S: value };
  if (typeof value === 'number' && isPlain(value)) return { N: String(value) };
  return typeof value === 'boolean' ? { BOOL: value } : undefined;
}

/** True if a number is written without an exponent and has fewer than the 38 digits that DynamoDB keeps. */
const isPlain = (value: number): boolean =>
  Number.isSafeInteger(value) || (Math.abs(value) < Number.MAX_SAFE_INTEGER && Math.abs(value) > 1e-6);

const NOT_FIELDS: ReadonlySet<string> = new Set([
  'v',
  'json',
  TABLE.pk,
  TABLE.sk,
  TABLE.ttl,
  ...INDEX_ATTRIBUTES,
]);

/** @throws SteadfastError `table-form` */
export function refuseOtherForm(item: Item): void {
  const [found, known] = [number(item, 'v'), number(FORM, 'v')];
  if (found === known) return;
  const what = found > known ? 'deploy the newer code' : 'use a new table, or the code that wrote this one';
  throw refuse(
    'table-form',
    `the state table has items of form ${found}, this code reads form ${known}: ${what}`,
  );
}

function values(item: Item): Record<string, unknown> {
  refuseOtherForm(item);
  const record: Record<string, unknown> = {};
  for (const [key, { S, N, BOOL }] of Object.entries(item)) {
    if (!NOT_FIELDS.has(key)) record[key] = S ?? (N === undefined ? BOOL : Number(N));
  }
  return item['json'] === undefined ? record : { ...record, ...(jsonIn(item) as object) };
}
